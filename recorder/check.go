package recorder

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/point"
)

// A block is closed when its strings reach maxBlockText bytes, so that it always fits into a bus message; a
// single string has at most maxText.
const (
	maxBlockText = 1 << 20
	maxText      = 64 << 10
)

// The range of recordable times, in microseconds: years with four digits.
const (
	firstTime = -62_135_596_800_000_000 // 0001-01-01
	endTime   = 253_402_300_800_000_000 // 10000-01-01
)

var (
	errText = errors.New("a text value has at most 64 KiB; record what it refers to instead")
	errUTF8 = errors.New("a text value must be valid UTF-8")
	errTime = errors.New("the time must lie in the years 1 to 9999; is it in the right unit?")
)

// check refuses samples that no store could keep, apart from their paths.
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

// checkPath refuses invalid paths of points.
func checkPath(p point.Path) error {
	if err := p.Validate(); err != nil {
		return fault.E("recorder.Record", fault.Invalid, fmt.Sprintf("%.80q", string(p)), err)
	}
	return nil
}
