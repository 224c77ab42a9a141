package dnp3

import (
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
)

// namesBad is how many points a diagnosis names.
const namesBad = 3

// Diagnose implements driver.Diagnoser.
func (n *session) Diagnose() error { return n.diagnosis }

// diagnose says which points a read left bad although the device answered, and what to do; nil if there are none.
func diagnose(n *session, names []string, samples []point.Sample) error {
	var f findings
	for i, name := range names {
		if at, known := n.byName[name]; known {
			f.add(&n.items[at], samples[i].Quality)
		}
	}
	return f.err(len(n.items))
}

// findings are the points without a value of a device that answers.
type findings struct{ absent, restarted []string }

// add notes a point whose value has a quality.
func (f *findings) add(t *item, q point.Quality) {
	switch q {
	case point.BadConfig:
		f.absent = append(f.absent, t.describe())
	case point.BadStale:
		f.restarted = append(f.restarted, t.describe())
	default:
	}
}

func (t *item) describe() string {
	return fmt.Sprintf("%s (%s %d)", t.name, typeOf(t.kind).name, t.index)
}

// err says what was found among some points, and what to do. Points that the device does not have come before those
// that it shows without a value.
func (f *findings) err(all int) error {
	var parts []string
	kind := fault.Unavailable
	if k := len(f.absent); k > 0 {
		kind = fault.Invalid
		parts = append(parts, fmt.Sprintf("the device does not give %d of %s: %s; correct type and index in the registry, or leave them out",
			k, plural.Of(all, "point"), firstOf(f.absent)))
	}
	if k := len(f.restarted); k > 0 {
		parts = append(parts, fmt.Sprintf("%s no value since the device restarted (flag RESTART): %s; check what feeds %s at the device",
			plural.Of(k, "point")+plural.Word(k, " has", " have"), firstOf(f.restarted), plural.Word(k, "it", "them")))
	}
	if len(parts) == 0 {
		return nil
	}
	return fault.E("", kind, "", errors.New(strings.Join(parts, "; ")))
}

// firstOf names the first of some points.
func firstOf(names []string) string {
	if more := len(names) - namesBad; more > 0 {
		names = append(names[:namesBad:namesBad], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
