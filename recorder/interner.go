package recorder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// maxPaths bounds the paths that one node can record: a program that makes up names without end
// must not eat the node's memory.
const maxPaths = 4_000_000

// A block is closed when its texts reach maxBlockText octets, so that it fits a bus message
// whatever is in it; a single text has at most maxText.
const (
	maxBlockText = 1 << 20
	maxText      = 64 << 10
)

// The times that can be recorded, in microseconds: the years that have four digits.
const (
	firstTime = -62_135_596_800_000_000 // 0001-01-01
	endTime   = 253_402_300_800_000_000 // 10000-01-01
)

var (
	errText = errors.New("a text value has at most 64 KiB; record what it refers to instead")
	errUTF8 = errors.New("a text value must be valid UTF-8")
	errTime = errors.New("the time must lie in the years 1 to 9999; is it in the right unit?")
)

// interner numbers every path once, after it was checked.
type interner struct {
	patterns []point.Pattern // of urgent points
	index    map[point.Path]uint32
	list     []point.Path
	urgent   []bool   // by number; empty if there are no patterns
	ids      []uint32 // what intern found last
}

// isUrgent reports whether a path belongs into the urgent lane.
func (in *interner) isUrgent(p point.Path) bool {
	if id, known := in.index[p]; known && len(in.patterns) > 0 {
		return in.urgent[id]
	}
	return in.match(p)
}

func (in *interner) match(p point.Path) bool {
	return slices.ContainsFunc(in.patterns, func(pt point.Pattern) bool { return pt.Match(p) })
}

// intern finds the number of each sample's path and leaves them in ids.
func (in *interner) intern(samples []point.Sample) error {
	in.ids = in.ids[:0]
	for i := range samples {
		if err := check(&samples[i]); err != nil {
			return fault.E("recorder.Record", fault.Invalid, string(samples[i].Point), err)
		}
		id, known := in.index[samples[i].Point]
		if !known {
			var err error
			if id, err = in.admit(samples[i].Point); err != nil {
				return err
			}
		}
		in.ids = append(in.ids, id)
	}
	return nil
}

// check refuses what no store could keep, path apart.
func check(s *point.Sample) error {
	if t := s.Time.UnixMicro(); t < firstTime || t >= endTime {
		return errTime
	}
	if text := s.Value.Text(); text != "" {
		switch {
		case len(text) > maxText:
			return errText
		case !utf8.ValidString(text):
			return errUTF8
		}
	}
	return nil
}

func (in *interner) admit(p point.Path) (uint32, error) {
	if err := p.Validate(); err != nil {
		return 0, fault.E("recorder.Record", fault.Invalid, fmt.Sprintf("%.80q", string(p)), err)
	}
	if len(in.list) >= maxPaths {
		return 0, fault.E("recorder.Record", fault.Unavailable, string(p),
			fmt.Errorf("this node records %d points already; name points by what they are, not by what they say", maxPaths))
	}
	own, id := point.Path(strings.Clone(string(p))), uint32(len(in.list))
	in.index[own] = id
	in.list = append(in.list, own)
	if len(in.patterns) > 0 {
		in.urgent = append(in.urgent, in.match(own))
	}
	return id, nil
}
