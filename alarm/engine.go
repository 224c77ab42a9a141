package alarm

import (
	"cmp"
	"container/heap"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"voltbus/alarm/expression"
	"voltbus/point"
)

// Engine keeps the alarms of rules and those that others raise. It is used by one goroutine at a time. Times are microseconds since 1970 UTC
// and must not go back; a reading with a time after the given one counts as of that one.
type Engine struct {
	states

	about  func(point.Path) point.Info
	rules  map[string]*compiled
	index  index
	points map[point.Path]*watched // nil for one that no rule concerns
	row    []*watched              // of the dictionary of a block
	doubts doubts
}

// states are the alarms that are not idle, whatever raises them.
type states struct {
	now    int64
	live   map[ID]*Alarm
	idle   func(ID) *Alarm // the alarm of a rule, which may be idle; nil if there is none
	groups map[string]int  // alarms of a group that are in alarm
	timers timers
	flood  flood

	out     []Transition
	changed map[ID]struct{}
}

// compiled is a rule with its durations in microseconds.
type compiled struct {
	Rule

	onDelay, offDelay, per, longest int64

	condition *expression.Expression // of a rule with the check Condition
}

// watched is a point that rules look at.
type watched struct {
	path     point.Path
	interval int64 // at which a reading is expected; 0 if that is not known
	known    bool
	time     int64       // of the last usable reading
	value    point.Value // of that
	seen     int64       // when it arrived; before the first, when the engine began to look
	bad      bool        // the newest reading is not usable
	own      []*instance // of the rules that select it
	other    []*instance // that compare with it, or are suppressed by it
}

// instance is a rule for one point.
type instance struct {
	rule     *compiled
	at       *watched
	feedback *watched
	gate     *watched            // suppresses it by design
	inputs   map[string]*watched // of an expression, by name
	alarm    *Alarm              // nil before its first transition
	pending  bool                // the condition is not what the alarm says, since
	since    int64
	due      int64 // of its timer; 0 for none
	doubtful bool  // it is one of the doubts
	from     trace // of rate and stuck: what the value is compared with
	next     trace // of rate: what it will be compared with
}

type trace struct {
	known bool
	time  int64
	value float64
}

// New returns an engine without rules, with what an earlier one knew. about describes a point.
func New(now int64, about func(point.Path) point.Info, kept []Alarm) *Engine {
	e := &Engine{
		about: about, rules: map[string]*compiled{}, points: map[point.Path]*watched{},
		states: states{now: now, live: make(map[ID]*Alarm, len(kept)), groups: map[string]int{}, changed: map[ID]struct{}{}},
	}
	e.idle = func(id ID) *Alarm {
		if i := e.find(id); i != nil {
			return e.alarmOf(i)
		}
		return nil
	}
	for i := range kept {
		a := kept[i]
		e.live[a.ID] = &a
		if a.inAlarm() {
			e.groups[a.Group]++
		}
		e.timeShelf(&a)
	}
	return e
}

// SetRules replaces the rules, which are valid. Alarms of rules that stay go on; those of others end.
func (e *Engine) SetRules(now int64, rules []Rule) {
	e.advance(now)
	before, old := e.points, e.rules
	e.doubts = doubts{}
	e.rules, e.points, e.index = make(map[string]*compiled, len(rules)), make(map[point.Path]*watched, len(before)), index{}
	for _, r := range rules {
		r = r.Completed()
		c := &compiled{Rule: r, onDelay: micros(r.OnDelay), offDelay: micros(r.OffDelay), per: max(1, micros(r.Per)), longest: micros(r.Longest)}
		if r.Check == Condition {
			c.condition, _ = expression.Parse(r.Expression) // the rule was validated
		}
		e.rules[r.Name] = c
		e.index.add(c)
	}
	for path, w := range before {
		if w != nil {
			e.point(path) // and those that it is compared with
		}
	}
	for path, w := range before {
		if found := e.points[path]; w != nil && found != nil {
			found.keep(w, func(i *instance) bool {
				was := old[i.rule.Name]
				return was != nil && reflect.DeepEqual(was.Rule, i.rule.Rule)
			})
		}
	}
	e.attach()
	for _, w := range e.points {
		if w != nil && w.known {
			e.look(w)
		}
	}
}

// keep takes over what an engine with other rules knew of the point.
func (w *watched) keep(was *watched, same func(*instance) bool) {
	w.known, w.time, w.value, w.seen, w.bad = was.known, was.time, was.value, was.seen, was.bad
	for _, i := range w.own {
		at := slices.IndexFunc(was.own, func(o *instance) bool { return o.rule.Name == i.rule.Name })
		if at >= 0 && same(i) {
			o := was.own[at]
			i.pending, i.since, i.from, i.next = o.pending, o.since, o.from, o.next
		}
	}
}

// attach connects the alarms that are not idle with their rules, and ends those without one.
func (e *Engine) attach() {
	for _, id := range slices.Sorted(maps.Keys(e.live)) {
		a := e.live[id]
		if a.External {
			continue
		}
		i := e.find(id)
		if i == nil {
			e.change(a, EventEnded, act{}, func() {
				*a = Alarm{ID: a.ID, Rule: a.Rule, Point: a.Point, Priority: a.Priority, Text: a.Text, Group: a.Group}
			})
			continue
		}
		i.alarm = a
		if a.Design && i.gate == nil {
			e.change(a, EventUnsuppressed, act{}, func() { a.Design = false; a.back() })
		}
		a.Priority, a.Text, a.Limit = i.rule.Priority, i.text(), i.rule.words()
		e.changed[id] = struct{}{}
		if i.pending {
			e.schedule(i, i.since+i.delay())
		}
	}
}

// find returns the instance of an alarm of a rule; nil if there is none.
func (e *Engine) find(id ID) *instance {
	rule, path, _ := strings.Cut(string(id), "@")
	if e.rules[rule] == nil {
		return nil
	}
	w := e.point(point.Path(path))
	if w == nil {
		return nil
	}
	if at := slices.IndexFunc(w.own, func(i *instance) bool { return i.rule.Name == rule }); at >= 0 {
		return w.own[at]
	}
	return nil
}

// point returns a point that rules look at; nil for any other.
func (e *Engine) point(path point.Path) *watched {
	if w, known := e.points[path]; known {
		return w
	}
	path = point.Path(strings.Clone(string(path)))
	list := e.index.of(path)
	if len(list) == 0 {
		e.points[path] = nil
		return nil
	}
	info := e.about(path)
	info.Path = path
	list = slices.DeleteFunc(list, func(c *compiled) bool { return !c.Selects(&info) })
	if len(list) == 0 {
		e.points[path] = nil
		return nil
	}
	w := e.watch(path)
	w.interval = info.Interval.Microseconds()
	for _, c := range list {
		i := e.instance(c, w)
		w.own = append(w.own, i)
		e.doubts.add(i)
	}
	return w
}

// watch makes the engine look at a point, whether or not a rule selects it.
func (e *Engine) watch(path point.Path) *watched {
	w := e.points[path]
	if w == nil {
		w = &watched{path: path, seen: e.now}
		e.points[path] = w
	}
	return w
}

// partner returns a point that another is compared with.
func (e *Engine) partner(path point.Path, i *instance) *watched {
	w := e.point(path)
	if w == nil {
		w = e.watch(path)
	}
	if i.rule.condition != nil && w.interval == 0 {
		w.interval = e.about(path).Interval.Microseconds()
	}
	w.other = append(w.other, i)
	return w
}

func (e *Engine) instance(c *compiled, w *watched) *instance {
	i := &instance{rule: c, at: w, alarm: e.live[IDOf(c.Name, w.path)]}
	if c.Check == Discrepancy {
		i.feedback = e.partner(point.Path(filled(c.Feedback, w.path)), i)
	}
	if c.condition != nil {
		e.connect(i)
	}
	if c.SuppressPoint != "" {
		i.gate = e.partner(point.Path(filled(c.SuppressPoint, w.path)), i)
	}
	if at, is := i.stale(); is {
		e.schedule(i, at)
	}
	return i
}

// Observe looks at the samples of a block that has just been recorded.
func (e *Engine) Observe(now int64, b *point.Block) {
	e.advance(now)
	e.row = e.row[:0]
	for _, path := range b.Points {
		e.row = append(e.row, e.point(path))
	}
	for i, at := range b.Point {
		if w := e.row[at]; w != nil {
			e.sample(w, b.Time[i], b.Value(i), b.Quality[i])
		}
	}
}

// Sample looks at one reading.
func (e *Engine) Sample(now int64, s *point.Sample) {
	e.advance(now)
	if w := e.point(s.Point); w != nil {
		e.sample(w, s.Time.UnixMicro(), s.Value, s.Quality)
	}
}

func (e *Engine) sample(w *watched, at int64, v point.Value, q point.Quality) {
	at = min(at, e.now)
	if w.known && at < w.time {
		return
	}
	if w.bad = q.IsBad() || v.Kind() == point.None; w.bad {
		return
	}
	w.known, w.time, w.value, w.seen = true, at, v, e.now
	if v.Kind() == point.Text {
		w.value = point.TextOf(strings.Clone(v.Text()))
	}
	e.look(w)
}

// look evaluates the rules that a point concerns.
func (e *Engine) look(w *watched) {
	for _, i := range w.own {
		i.remember()
		e.evaluate(i, w.time)
		e.doubts.look(i)
	}
	for _, i := range w.other {
		if i.gate == w {
			e.suppress(i, w.time)
		}
		if i.feedback == w || i.uses(w) {
			e.evaluate(i, w.time)
			e.doubts.look(i)
		}
	}
}

// Tick does what the passing of time causes: delays end, readings become stale, shelves expire.
func (e *Engine) Tick(now int64) {
	e.advance(now)
	for len(e.timers) > 0 && e.timers[0].due <= e.now {
		t, is := heap.Pop(&e.timers).(timer)
		switch {
		case !is:
		case t.instance != nil:
			e.expire(t.instance, t.due)
		default:
			e.expireShelf(t.shelf)
		}
	}
}

func (e *states) advance(now int64) { e.now = max(e.now, now) }

// expire looks at an instance whose timer went off.
func (e *Engine) expire(i *instance, due int64) {
	if i.due != due || e.rules[i.rule.Name] != i.rule { // another one counts, or the rule is gone
		return
	}
	i.due = 0
	if at, is := i.stale(); is && !i.pending && at > e.now {
		e.schedule(i, at)
		return
	}
	e.evaluate(i, due)
}

// schedule has the instance evaluated at a time. One timer is enough: an earlier one schedules the rest.
func (e *states) schedule(i *instance, at int64) {
	if i.due != 0 && i.due <= at {
		return
	}
	i.due = at
	heap.Push(&e.timers, timer{due: at, instance: i})
}

type timer struct {
	due      int64
	instance *instance
	shelf    ID
}

// timers implements heap.Interface.
type timers []timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].due < t[j].due }
func (t timers) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	if one, is := x.(timer); is {
		*t = append(*t, one)
	}
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}

// Changes is what changed since Take was called last.
type Changes struct {
	Transitions []Transition // in order
	Kept        []Alarm      // to be kept
	Gone        []ID         // nothing needs to be kept of them
}

// Take returns what changed.
func (e *states) Take() Changes {
	c := Changes{Transitions: e.out}
	for id := range e.changed {
		if a := e.live[id]; a != nil {
			c.Kept = append(c.Kept, *a)
		} else {
			c.Gone = append(c.Gone, id)
		}
	}
	slices.SortFunc(c.Kept, func(a, b Alarm) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(c.Gone)
	e.out = nil
	clear(e.changed)
	return c
}

// Merge adds later changes to those that were not kept yet.
func (c *Changes) Merge(later *Changes) {
	states := make(map[ID]*Alarm, len(c.Kept)+len(later.Kept))
	for _, changes := range []*Changes{c, later} {
		for i := range changes.Kept {
			states[changes.Kept[i].ID] = &changes.Kept[i]
		}
		for _, id := range changes.Gone {
			states[id] = nil
		}
	}
	var kept []Alarm
	var gone []ID
	for _, id := range slices.Sorted(maps.Keys(states)) {
		if a := states[id]; a != nil {
			kept = append(kept, *a)
		} else {
			gone = append(gone, id)
		}
	}
	c.Transitions, c.Kept, c.Gone = append(c.Transitions, later.Transitions...), kept, gone
}

// Look has the engine know of points before their next reading, for rules that notice silence.
func (e *Engine) Look(paths []point.Path) {
	for _, path := range paths {
		e.point(path)
	}
}

// Unread lists the points that rules look at and of which there was no usable reading, by path.
func (e *Engine) Unread() (list []point.Path) {
	for path, w := range e.points {
		if w != nil && !w.known {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

func moment(at int64) time.Time { return time.UnixMicro(at).UTC() }

func (t *timers) add(one timer) { heap.Push(t, one) }
