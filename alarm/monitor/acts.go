package monitor

import (
	"cmp"
	"context"
	"slices"
	"time"

	"voltbus/alarm"
	"voltbus/alarm/storage"
	"voltbus/point"
)

// Shown is an alarm with the description of its point.
type Shown struct {
	alarm.Shown

	Info point.Info
}

// List is the alarms that are open or kept from being annunciated.
type List struct {
	Alarms []Shown // the most urgent first
	All    int     // how many there are
	Open   int     // how many are annunciated
	// Flood is since when more alarms come than an operator can attend to; zero for no flood.
	Flood  time.Time
	Recent int // new alarms in the last ten minutes
}

// List lists the alarms, so many at most.
func (m *keeper) List(ctx context.Context, limit int) (List, error) {
	m.mu.Lock()
	list := m.engine.List()
	var out List
	out.Flood, out.Recent = m.engine.Flood()
	m.mu.Unlock()
	out.All = len(list)
	for i := range list {
		if list[i].Open() {
			out.Open++
		}
	}
	var err error
	out.Alarms, err = m.described(ctx, list[:min(len(list), limit)])
	return out, err
}

func (m *keeper) described(ctx context.Context, list []alarm.Shown) ([]Shown, error) {
	paths := make([]point.Path, len(list))
	for i := range list {
		if !list[i].External {
			paths[i] = list[i].Point
		}
	}
	entries, err := m.o.Points.Entries(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := make([]Shown, len(list))
	for i := range list {
		out[i] = Shown{list[i], entries[i].Info}
	}
	return out, nil
}

// act does something to an alarm, and answers when that is on disk.
func (m *keeper) act(ctx context.Context, do func(*alarm.Engine, int64) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := do(m.engine, m.now()); err != nil {
		return err
	}
	m.commit(ctx, false)
	return m.trouble
}

// Acknowledge says that an operator has seen an alarm. fault.Conflict names who was first.
func (m *keeper) Acknowledge(ctx context.Context, id alarm.ID, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Acknowledge(now, id, by, note) })
}

// Reset ends a latched alarm.
func (m *keeper) Reset(ctx context.Context, id alarm.ID, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Reset(now, id, by, note) })
}

// Shelve keeps an alarm from being annunciated until a time.
func (m *keeper) Shelve(ctx context.Context, id alarm.ID, until time.Time, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Shelve(now, id, until, by, note) })
}

// Unshelve ends that.
func (m *keeper) Unshelve(ctx context.Context, id alarm.ID, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Unshelve(now, id, by, note) })
}

// Remove takes an alarm out of service.
func (m *keeper) Remove(ctx context.Context, id alarm.ID, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Remove(now, id, by, note) })
}

// Restore puts it back in service.
func (m *keeper) Restore(ctx context.Context, id alarm.ID, by, note string) error {
	return m.act(ctx, func(e *alarm.Engine, now int64) error { return e.Restore(now, id, by, note) })
}

// History lists transitions, the newest first.
func (m *keeper) History(ctx context.Context, q storage.Query) (list []storage.Entry, err error) {
	err = m.file.History(ctx, q, func(e *storage.Entry) { list = append(list, *e) })
	return list, err
}

// Rates reports how many alarms operators had to attend to from one time to another.
func (m *keeper) Rates(ctx context.Context, from, to time.Time) (alarm.Rates, error) {
	c := alarm.NewCount(from, to)
	if err := m.file.History(ctx, storage.Query{From: from, To: to}, func(e *storage.Entry) { c.Add(&e.Transition) }); err != nil {
		return alarm.Rates{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return c.Rates(m.engine.List(), m.o.Now()), nil
}

// Tried is what a rule would do to a point now.
type Tried struct {
	Info   point.Info
	Time   time.Time // of the reading; zero for none
	Value  string
	Active bool
	// Unjudged is why it is not known; "" if it is.
	Unjudged string
}

// mostTried is how many points Try answers for.
const mostTried = 1000

// Try reports for which points a rule would have alarms, and which of them would be active now, whatever its delays. all is how many points there are;
// at most 1,000 are answered, those in alarm first.
func (m *keeper) Try(ctx context.Context, r alarm.Rule) (list []Tried, all int, err error) {
	if r.Name == "" {
		r.Name = "try"
	}
	if err := r.Validate(); err != nil {
		return nil, 0, err
	}
	paths, err := m.pointsOf(ctx, &r)
	if err != nil {
		return nil, 0, err
	}
	r.OnDelay = 0
	now := m.o.Now()
	e := alarm.New(0, m.about, nil)
	e.SetRules(0, []alarm.Rule{r})
	e.Look(paths)
	known, err := m.newest(ctx, e.Unread())
	if err != nil {
		return nil, 0, err
	}
	for i := range known {
		e.Sample(known[i].Time.UnixMicro(), &known[i])
	}
	e.Tick(now.UnixMicro())
	list, err = m.tried(ctx, e, r.Name, paths, known)
	return list[:min(len(list), mostTried)], len(paths), err
}

// newest returns the newest readings of points that have any, by time.
func (m *keeper) newest(ctx context.Context, paths []point.Path) (known []point.Sample, err error) {
	if m.o.Readings == nil {
		return nil, nil
	}
	all, err := m.o.Readings.Latest(ctx, paths)
	if err != nil {
		return nil, err
	}
	known = slices.DeleteFunc(all, func(s point.Sample) bool { return s.Point == "" })
	slices.SortStableFunc(known, func(a, b point.Sample) int { return a.Time.Compare(b.Time) })
	return known, nil
}

func (m *keeper) tried(ctx context.Context, e *alarm.Engine, rule string, paths []point.Path, known []point.Sample) ([]Tried, error) {
	entries, err := m.o.Points.Entries(ctx, paths)
	if err != nil {
		return nil, err
	}
	at := make(map[point.Path]*point.Sample, len(known))
	for i := range known {
		at[known[i].Point] = &known[i]
	}
	unjudged := map[alarm.ID]string{}
	for _, u := range e.Unjudged() {
		unjudged[u.Alarm] = u.Why
	}
	list := make([]Tried, len(entries))
	for i := range entries {
		list[i].Info = entries[i].Info
		if s := at[paths[i]]; s != nil {
			list[i].Time, list[i].Value = s.Time, s.Value.String()
		}
		a, is := e.Get(alarm.IDOf(rule, paths[i]))
		list[i].Unjudged = unjudged[alarm.IDOf(rule, paths[i])]
		list[i].Active = is && a.Active && list[i].Unjudged == ""
	}
	slices.SortStableFunc(list, func(a, b Tried) int {
		rank := map[bool]int{true: 0, false: 1}
		return cmp.Compare(rank[a.Active], rank[b.Active])
	})
	return list, nil
}
