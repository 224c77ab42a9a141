package store

import (
	"strings"

	"voltbus/meter"
	"voltbus/point"
)

// PathOfType returns the point of readings whose channel is known by its reading type alone: meters/<meter>/<reading type>. Such
// readings stand only in the log of a concentrator, which does not know the channels of meters.
func PathOfType(id string, t meter.ReadingType) point.Path {
	return point.Path(Branch + id + "/" + t.String())
}

// TypeOf is the inverse of PathOfType; false for a point that is none of a reading type.
func TypeOf(p point.Path) (id string, t meter.ReadingType, ok bool) {
	rest, ok := strings.CutPrefix(string(p), Branch)
	at := strings.LastIndexByte(rest, '/')
	if !ok || at <= 0 || !strings.Contains(rest[at+1:], ".") {
		return "", t, false
	}
	t, err := meter.ParseReadingType(rest[at+1:])
	return rest[:at], t, err == nil
}
