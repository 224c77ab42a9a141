package model

import (
	"slices"
	"strings"

	"voltbus/control"
	"voltbus/point"
)

// deviations are the points that do not have their commanded values.
type deviations struct {
	list    map[point.Path]control.MismatchedPoint
	changes uint64
}

// judge records whether a point has its commanded value.
func (d *deviations) judge(o *output) {
	path := o.target.spec.Point
	wrong := o.isCommanded() && !o.isFrozen() &&
		(o.state == control.Mismatch || o.state == control.Differs || o.state == control.Failed || o.state == control.Unknown && o.write.failures > 0)
	is := control.MismatchedPoint{Point: path, Output: o.state}
	if is.Output == control.Failed || is.Output == control.Unknown {
		is.Why = o.write.text
	}
	switch before, was := d.list[path]; {
	case wrong && before != is:
		d.list[path] = is
		d.changes++
	case !wrong && was:
		d.forget(path)
	}
}

// forget removes a point.
func (d *deviations) forget(path point.Path) {
	if _, was := d.list[path]; was {
		delete(d.list, path)
		d.changes++
	}
}

// MismatchedPoint returns the points that do not have their commanded values, by path. Overridden ones do not count.
func (d *deviations) MismatchedPoints() []control.MismatchedPoint {
	list := make([]control.MismatchedPoint, 0, len(d.list))
	for _, a := range d.list {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b control.MismatchedPoint) int { return strings.Compare(string(a.Point), string(b.Point)) })
	return list
}

// MismatchChanges counts the changes of MismatchedPoint.
func (d *deviations) MismatchChanges() uint64 { return d.changes }
