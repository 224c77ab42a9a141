// Package replay plays a recorded stretch of a node's history to agents in virtual time, and compares what they decide with
// what was decided then.
package replay

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Decision is a command of an agent that stands from a moment on.
type Decision struct {
	At    time.Time `json:"time"`
	Point string    `json:"point"`
	Value any       `json:"value"` // nil: it ended
}

// Difference is a stretch of time in which a point was commanded differently.
type Difference struct {
	Point string    `json:"point"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	Then  any       `json:"then"` // nil: nothing was commanded
	Now   any       `json:"now"`
}

// Comparison says how far decisions agree.
type Comparison struct {
	From        time.Time          `json:"from"`
	To          time.Time          `json:"to"`
	Points      map[string]float64 `json:"points"` // share of the time in which both are the same
	Counts      map[string][2]int  `json:"counts"` // changes then and now
	Differences []Difference       `json:"differences"`
}

// Limits say what still counts as the same.
type Limits struct {
	Tolerance float64       // of numbers
	Slack     time.Duration // differences that are shorter do not count
}

// Compare compares two series of decisions, each in the order of time, from one moment to another.
func Compare(then, now []Decision, from, to time.Time, l Limits) *Comparison {
	c := &Comparison{From: from, To: to, Points: map[string]float64{}, Counts: map[string][2]int{}}
	a, b := byPoint(then), byPoint(now)
	points := maps.Clone(a)
	maps.Copy(points, b)
	for _, point := range slices.Sorted(maps.Keys(points)) {
		different := c.point(point, a[point], b[point], l)
		share := 1.0
		if whole := to.Sub(from); whole > 0 {
			share = 1 - different.Seconds()/whole.Seconds()
		}
		c.Points[point] = share
		c.Counts[point] = [2]int{len(a[point]), len(b[point])}
	}
	slices.SortStableFunc(c.Differences, func(x, y Difference) int { return x.From.Compare(y.From) })
	return c
}

// byPoint returns the changes of each point.
func byPoint(all []Decision) map[string][]Decision {
	points := map[string][]Decision{}
	for _, d := range all {
		list := points[d.Point]
		if n := len(list); n > 0 && list[n-1].Value == d.Value || n == 0 && d.Value == nil {
			continue
		}
		points[d.Point] = append(list, d)
	}
	return points
}

// point notes the differences of a point and returns how long they are together.
func (c *Comparison) point(name string, then, now []Decision, l Limits) (sum time.Duration) {
	moments := []time.Time{c.From, c.To}
	for _, d := range slices.Concat(then, now) {
		if d.At.After(c.From) && d.At.Before(c.To) {
			moments = append(moments, d.At)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	var open *Difference
	end := func() {
		if open != nil && open.To.Sub(open.From) > l.Slack {
			c.Differences = append(c.Differences, *open)
			sum += open.To.Sub(open.From)
		}
		open = nil
	}
	for i := range len(moments) - 1 {
		a, b := at(then, moments[i]), at(now, moments[i])
		switch {
		case same(a, b, l.Tolerance):
			end()
		case open != nil && open.Then == a && open.Now == b:
			open.To = moments[i+1]
		default:
			end()
			open = &Difference{Point: name, From: moments[i], To: moments[i+1], Then: a, Now: b}
		}
	}
	end()
	return sum
}

// at returns what is commanded at a moment.
func at(list []Decision, moment time.Time) (value any) {
	for _, d := range list {
		if d.At.After(moment) {
			break
		}
		value = d.Value
	}
	return value
}

func same(a, b any, tolerance float64) bool {
	x, okX := a.(float64)
	y, okY := b.(float64)
	if okX && okY {
		return math.Abs(x-y) <= tolerance
	}
	return a == b
}

// mostLines is how many differences are shown.
const mostLines = 50

// Text writes the comparison for people.
func (c *Comparison) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "compared   %s to %s\n", c.From.Format(time.RFC3339), c.To.Format(time.RFC3339))
	if len(c.Points) == 0 {
		b.WriteString("decisions  none, neither then nor now\n")
	}
	for _, point := range slices.Sorted(maps.Keys(c.Points)) {
		n := c.Counts[point]
		fmt.Fprintf(&b, "%s: the same %.1f %% of the time, %d changes then, %d now\n", point, 100*c.Points[point], n[0], n[1])
	}
	for _, d := range c.Differences[:min(len(c.Differences), mostLines)] {
		fmt.Fprintf(&b, "  %s for %s: %s: %s then, %s now\n", d.From.Format(time.RFC3339), d.To.Sub(d.From).Round(time.Millisecond), d.Point, word(d.Then), word(d.Now))
	}
	if more := len(c.Differences) - mostLines; more > 0 {
		fmt.Fprintf(&b, "  and %d more; --json has all\n", more)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func word(v any) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(v)
}
