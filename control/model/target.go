package model

import (
	"slices"
	"strings"

	"voltbus/control"
	"voltbus/point"
)

// target is a known point.
type target struct {
	spec     *control.Spec
	observed point.Value // the last value read
	away     bool        // it has been unreadable since
	frozen   int         // number of overrides that hold it
	output   *output     // nil until it is first commanded
}

// commanded returns the output of the target, which is created if absent.
func (t *target) commanded(m *Model) *output {
	if t.output == nil {
		o := &output{m: m, target: t, state: control.Idle}
		o.write.output, o.feedback.output = o, o
		t.output = o
	}
	return t.output
}

// trip ends the commands that the interlocks no longer allow.
func (t *target) trip() {
	if t.output == nil {
		return
	}
	m, tripped := t.output.m, false
	for _, c := range t.output.array.all() {
		if m.interlocks.Check(t.spec, c.Value) != nil {
			m.end(c, control.CauseInterlock)
			tripped = true
		}
	}
	if tripped {
		t.output.follow(control.CauseInterlock)
	}
}

// points holds the known points.
type points struct{ targets map[point.Path]*target }

// chosen returns the points that a function selects, by path.
func (p *points) chosen(choose func(*target) bool) []*target {
	var chosen []*target
	for _, t := range p.targets {
		if choose(t) {
			chosen = append(chosen, t)
		}
	}
	slices.SortFunc(chosen, func(a, b *target) int { return strings.Compare(string(a.spec.Point), string(b.spec.Point)) })
	return chosen
}

// matching returns the points that a pattern selects, by path.
func (p *points) matching(pattern point.Pattern) []*target {
	return p.chosen(func(t *target) bool { return pattern.Match(t.spec.Point) })
}

// commandedBelow returns the points with commands at or below a path, by path.
func (p *points) commandedBelow(path point.Path) []*target {
	return p.chosen(func(t *target) bool {
		return t.output != nil && t.output.array.len() > 0 && control.Covers(path, t.spec.Point)
	})
}

// Follows reports whether readings of a point matter, because it is commanded or has been set to a value.
func (p *points) Follows(path point.Path) bool {
	t := p.targets[path]
	return t != nil && t.output != nil && (t.output.array.len() > 0 || t.output.reverting || t.output.state != control.Idle)
}

// Commanded returns the points that are commanded, reverting or held back, by path.
func (p *points) Commanded() []point.Path {
	var paths []point.Path
	for path, t := range p.targets {
		if o := t.output; o != nil && (o.array.len() > 0 || o.reverting || o.write.sent.ID != 0) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
