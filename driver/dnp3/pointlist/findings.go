package pointlist

import (
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
)

// namesBad is the maximum number of points that a diagnosis names.
const namesBad = 3

// Findings are the points without a value on a device that answers.
type Findings struct{ absent, restarted []string }

// Add adds a point whose value has a quality.
func (f *Findings) Add(t *Item, q point.Quality) {
	switch q {
	case point.BadConfig:
		f.absent = append(f.absent, t.describe())
	case point.BadStale:
		f.restarted = append(f.restarted, t.describe())
	default:
	}
}

func (t *Item) describe() string {
	return fmt.Sprintf("%s (%s %d)", t.Name, typeOf(t.Kind).name, t.Index)
}

// Err describes the findings about some points, and what to do. Points that the device does not have precede those
// that it reports without a value.
func (f *Findings) Err(all int) error {
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
