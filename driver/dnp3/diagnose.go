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
// Points that the device does not have come before those that it shows without a value.
func (n *session) diagnose(names []string, samples []point.Sample) error {
	var absent, restarted []string
	for i, name := range names {
		at, known := n.byName[name]
		if !known {
			continue
		}
		t := &n.items[at]
		switch text := fmt.Sprintf("%s (%s %d)", t.name, typeOf(t.kind).name, t.index); samples[i].Quality {
		case point.BadConfig:
			absent = append(absent, text)
		case point.BadStale:
			restarted = append(restarted, text)
		default:
		}
	}
	var parts []string
	kind := fault.Unavailable
	if k := len(absent); k > 0 {
		kind = fault.Invalid
		parts = append(parts, fmt.Sprintf("the device does not give %d of %s: %s; correct type and index in the registry, or leave them out",
			k, plural.Of(len(n.items), "point"), firstOf(absent)))
	}
	if k := len(restarted); k > 0 {
		parts = append(parts, fmt.Sprintf("%s no value since the device restarted (flag RESTART): %s; check what feeds %s at the device",
			plural.Of(k, "point")+plural.Word(k, " has", " have"), firstOf(restarted), plural.Word(k, "it", "them")))
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
