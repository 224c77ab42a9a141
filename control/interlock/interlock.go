// Package interlock tracks which points depend on which others, and the values of the latter.
package interlock

import (
	"fmt"
	"slices"

	"voltbus/control"
	"voltbus/point"
)

// Locks holds the interlocks of a node. It is used by one goroutine at a time.
type Locks struct {
	bound  map[point.Path][]point.Path // the points that depend on the key
	values map[point.Path]point.Value  // last values of those keys
}

// New returns locks that bind nothing.
func New() *Locks {
	return &Locks{bound: make(map[point.Path][]point.Path), values: make(map[point.Path]point.Value)}
}

// Bind records which points a point depends on.
func (l *Locks) Bind(spec *control.Spec) {
	for _, lock := range spec.Demands().Interlocks {
		l.bound[lock.Other] = append(l.bound[lock.Other], spec.Point)
	}
}

// Unbind removes what Bind recorded.
func (l *Locks) Unbind(spec *control.Spec) {
	for _, lock := range spec.Demands().Interlocks {
		rest := slices.DeleteFunc(l.bound[lock.Other], func(other point.Path) bool { return other == spec.Point })
		if l.bound[lock.Other] = rest; len(rest) == 0 {
			delete(l.bound, lock.Other)
			delete(l.values, lock.Other)
		}
	}
}

// Observe records a value, and returns the points whose commands may now be forbidden: none if the value is unknown.
func (l *Locks) Observe(path point.Path, v point.Value) []point.Path {
	bound := l.bound[path]
	if len(bound) == 0 {
		return nil
	}
	l.values[path] = v
	if v.Kind() == point.None {
		return nil
	}
	return bound
}

// Check returns the interlock that forbids a value now.
func (l *Locks) Check(spec *control.Spec, v point.Value) error {
	number, _ := v.Number()
	for _, lock := range spec.Demands().Interlocks {
		if !lock.Guards.Contains(number) {
			continue
		}
		other, known := l.values[lock.Other]
		value, numeric := other.Number()
		switch {
		case !known || !numeric:
			return fmt.Errorf("its interlock needs %s %v, and that is not known; see why it cannot be read", lock.Other, lock.Needs)
		case !lock.Needs.Contains(value):
			return fmt.Errorf("its interlock needs %s %v, and that is %v", lock.Other, lock.Needs, other)
		}
	}
	return nil
}
