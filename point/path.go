package point

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Path names a point, such as "campus/building/ahu1/supply_temp". Its segments are separated by
// slashes and may hold any printable text: spaces, dots, "*", ">", other scripts, markup. Whoever
// shows or sends a path escapes it for the place it goes to.
type Path string

// MaxPath is the longest path in bytes. It keeps every escaped form within the bus's limits.
const MaxPath = 512

// The reasons why a path is refused.
var (
	errPathEmpty   = errors.New("a path needs at least one character")
	errPathLong    = errors.New("a path has at most 512 bytes")
	errPathUTF8    = errors.New("a path must be valid UTF-8")
	errPathControl = errors.New("a path must not contain control characters")
)

// Validate reports why p cannot name a point, or nil.
func (p Path) Validate() error {
	switch {
	case p == "":
		return errPathEmpty
	case len(p) > MaxPath:
		return errPathLong
	}
	ascii := true
	for i := range len(p) { // a hot place: every path of every block comes by
		if p[i] < 0x20 || p[i] == 0x7f {
			return errPathControl
		}
		ascii = ascii && p[i] < utf8.RuneSelf
	}
	if !ascii && !utf8.ValidString(string(p)) {
		return errPathUTF8
	}
	return nil
}

// Join returns the path of the child name below p. An empty p gives just the name.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// Parent returns the path without its last segment, or "" for a single segment.
func (p Path) Parent() Path {
	if i := strings.LastIndexByte(string(p), '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

// Name returns the last segment.
func (p Path) Name() string {
	return string(p[strings.LastIndexByte(string(p), '/')+1:])
}
