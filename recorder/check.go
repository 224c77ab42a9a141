package recorder

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// A block is closed when its texts reach maxBlockText bytes, so that it fits a bus message
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

// checkPath refuses what names no point.
func checkPath(p point.Path) error {
	if err := p.Validate(); err != nil {
		return fault.E("recorder.Record", fault.Invalid, fmt.Sprintf("%.80q", string(p)), err)
	}
	return nil
}
