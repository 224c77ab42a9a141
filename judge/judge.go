// Package judge looks at readings before they are passed on: at their range, how fast they change, whether they are stuck, and whether they fit
// readings of other points or a model. It is pure: the same readings in the same order, from the same memory, have the same verdicts.
package judge

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"voltbus/judge/setting"
	"voltbus/point"
)

// Judge applies rules to readings. It is used by one goroutine.
type Judge struct {
	rules    setting.Rules
	points   map[point.Path]*Point // nil for one that no rule concerns
	partners map[point.Path]*trace // points that others are compared with
	saved    map[point.Path]Traces // of points that were not seen since
}

// trace is a reading that is remembered.
type trace struct {
	time  int64 // microseconds since 1970 UTC
	value float64
	known bool
}

// Point is what rules know of one point.
type Point struct {
	path   point.Path
	checks []check
	self   *trace // nil if no other is compared with it
}

// check is a rule for one point.
type check struct {
	rule      *setting.Rule
	index     int
	low, high float64
	other     *trace
	// last is the last reading that passed; for stuck, the first one of those that are the same; for residual, the mean residual.
	last  trace
	fit   Fit
	terms []term
}

// Verdict is what becomes of a reading.
type Verdict struct {
	Rule     int           // index among the rules; -1 if all believe the reading
	Withheld bool          // it is not passed on
	Quality  point.Quality // with which it is passed on
	Reason   string        // why it is withheld
	Unjudged bool          // the rule is a function, which did not answer
}

// Counts are what a rule found in readings.
type Counts struct {
	Withheld uint64 `json:"withheld"`
	Marked   uint64 `json:"marked"`
	Unjudged uint64 `json:"unjudged,omitempty"` // of these, those that the function of the rule gave no answer on
}

// Add counts a verdict that is not to pass.
func (c *Counts) Add(v *Verdict) {
	if v.Unjudged {
		c.Unjudged++
	}
	if v.Withheld {
		c.Withheld++
	} else {
		c.Marked++
	}
}

// Plus adds other counts.
func (c *Counts) Plus(o Counts) {
	c.Withheld, c.Marked, c.Unjudged = c.Withheld+o.Withheld, c.Marked+o.Marked, c.Unjudged+o.Unjudged
}

// New returns a judge with rules that are completed, and what an earlier one remembered.
func New(rules setting.Rules, m Memory) *Judge {
	j := &Judge{rules: rules, points: map[point.Path]*Point{}, partners: map[point.Path]*trace{}, saved: m.Points}
	if j.saved == nil {
		j.saved = map[point.Path]Traces{}
	}
	for path, t := range m.Partners {
		j.partners[path] = &trace{}
		if t != nil {
			*j.partners[path] = trace{t.Time, t.Value, true}
		}
	}
	return j
}

// mostPoints bounds the memory for points that no rule concerns.
const mostPoints = 1_000_000

// Rules returns the rules, in the order of Verdict.Rule.
func (j *Judge) Rules() setting.Rules { return j.rules }

// Point returns what rules know of a point, nil if none concerns it.
func (j *Judge) Point(path point.Path) *Point {
	if p, known := j.points[path]; known {
		return p
	}
	if len(j.points) >= mostPoints {
		maps.DeleteFunc(j.points, func(_ point.Path, p *Point) bool { return p == nil })
	}
	path = point.Path(strings.Clone(string(path)))
	p := j.make(path)
	j.points[path] = p
	delete(j.saved, path)
	return p
}

func (j *Judge) make(path point.Path) *Point {
	p := &Point{path: path}
	for i := range j.rules {
		r := &j.rules[i]
		if r.Check == setting.Function || !r.Concerns(path) {
			continue
		}
		c := check{rule: r, index: i, low: math.Inf(-1), high: math.Inf(1)}
		c.bound()
		if r.Against != "" {
			other := partnerOf(r.Against, path)
			if other == path || other.Validate() != nil {
				continue
			}
			c.other = j.partner(other)
		}
		if r.Check == setting.Residual && !j.terms(&c, path) {
			continue
		}
		if t, known := j.saved[path][r.Name]; known {
			c.last, c.fit = trace{t.Time, t.Value, true}, t.Fit
		}
		p.checks = append(p.checks, c)
	}
	p.self = j.partners[path]
	if len(p.checks) == 0 && p.self == nil {
		return nil
	}
	return p
}

// bound takes the bounds of the rule.
func (c *check) bound() {
	if c.rule.Low != nil {
		c.low = *c.rule.Low
	}
	if c.rule.High != nil {
		c.high = *c.rule.High
	}
}

// partner returns the trace of a point that others are compared with.
func (j *Judge) partner(path point.Path) *trace {
	t, known := j.partners[path]
	if !known {
		t = &trace{}
		j.partners[path] = t
	}
	if p, seen := j.points[path]; seen { // it was not compared with until now
		if p == nil {
			j.points[path] = &Point{path: path, self: t}
		} else {
			p.self = t
		}
	}
	return t
}

func partnerOf(against string, path point.Path) point.Path {
	segments := strings.Split(string(path), "/")
	for i := range maxSegments {
		text := ""
		if i < len(segments) {
			text = segments[i]
		}
		against = strings.ReplaceAll(against, fmt.Sprintf("{%d}", i+1), text)
	}
	return point.Path(against)
}

const maxSegments = 9 // placeholders

// Judge returns what becomes of a reading of the point. Readings without a number that can be used pass, and all of a nil point.
func (p *Point) Judge(time int64, v point.Value, q point.Quality) Verdict {
	out := Verdict{Rule: -1, Quality: q}
	n, is := v.Number()
	if p == nil || !is || q.IsBad() {
		return out
	}
	for i := range p.checks {
		c := &p.checks[i]
		if c.passes(time, n) {
			continue
		}
		out.Rule = c.index
		if c.rule.Verdict == setting.Withhold {
			out.Withheld, out.Reason = true, c.reason(time, n)
			return out
		}
		out.Quality = c.marked(out.Quality)
	}
	if p.self != nil && !p.self.later(time) {
		*p.self = trace{time, n, finite(n)}
	}
	return out
}

// marked returns the quality of a reading that does not pass.
func (c *check) marked(q point.Quality) point.Quality {
	switch {
	case !q.IsGood():
		return q
	case c.rule.Check == setting.Range:
		return point.UncertainRange
	}
	return point.Uncertain
}

// later reports whether the trace is of a time after this one.
func (t *trace) later(time int64) bool { return t.known && t.time > time }

func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// passes judges a number, and remembers it.
func (c *check) passes(time int64, n float64) bool {
	switch c.rule.Check {
	case setting.Range:
		return n >= c.low && n <= c.high
	case setting.Rate:
		return c.steady(time, n)
	case setting.Stuck:
		return c.moves(time, n)
	case setting.Residual:
		return c.fits(time, n)
	}
	d, known := c.compared(time, n)
	return !known || (d >= c.low && d <= c.high)
}

// steady reports whether a number is near enough to the last one that passed.
func (c *check) steady(time int64, n float64) bool {
	switch {
	case !finite(n):
		return false
	case c.last.known && math.Abs(n-c.last.value) > c.rule.Change*math.Abs(float64(time-c.last.time))/float64(c.rule.Per.Microseconds()):
		return false
	case !c.last.later(time):
		c.last = trace{time, n, true}
	}
	return true
}

// moves reports whether a number differs from the one some time ago. Readings older than the last ones pass.
func (c *check) moves(time int64, n float64) bool {
	switch {
	case !finite(n) || c.last.later(time):
	case !c.last.known || math.Abs(n-c.last.value) > c.rule.Tolerance:
		c.last = trace{time, n, true}
	default:
		return time-c.last.time <= c.rule.Longest.Microseconds()
	}
	return true
}

// compared returns the difference or the quotient to the other point; false if there is none.
func (c *check) compared(time int64, n float64) (d float64, known bool) {
	o := c.other
	if !o.known || math.Abs(float64(time-o.time)) > float64(c.rule.Window.Microseconds()) {
		return 0, false
	}
	if c.rule.Check == setting.Difference {
		return n - o.value, true
	}
	return n / o.value, o.value != 0
}

// reason says why a number does not pass.
func (c *check) reason(time int64, n float64) string {
	switch c.rule.Check {
	case setting.Range:
		return fmt.Sprintf("%v is not %s", n, c.bounds())
	case setting.Rate:
		return fmt.Sprintf("%v is too far from %v, %s before", n, c.last.value, span(time-c.last.time))
	case setting.Stuck:
		return fmt.Sprintf("%v has been the same for %s", n, span(time-c.last.time))
	case setting.Residual:
		return c.unexpected(time, n)
	}
	d, _ := c.compared(time, n)
	return fmt.Sprintf("%v has the %s %v to %s, which is not %s", n, c.rule.Check, d, c.rule.Against, c.bounds())
}

func (c *check) bounds() string {
	switch {
	case c.rule.Low == nil:
		return fmt.Sprintf("at most %v", c.high)
	case c.rule.High == nil:
		return fmt.Sprintf("at least %v", c.low)
	}
	return fmt.Sprintf("from %v to %v", c.low, c.high)
}
