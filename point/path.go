package point

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Path names a point, such as "campus/building/ahu1/supply_temp". Its segments are separated by slashes and may
// contain any printable text except "." and "..": spaces, dots, "*", ">", other scripts, markup. Code that shows
// or sends a path escapes it for its destination.
type Path string

// MaxPath is the longest path in bytes. It keeps every escaped form within the bus's limits.
const MaxPath = 512

// Reasons why a path is refused.
var (
	errPathEmpty   = errors.New("a path needs at least one character")
	errPathLong    = errors.New("a path has at most 512 bytes")
	errPathUTF8    = errors.New("a path must be valid UTF-8")
	errPathDots    = errors.New("a path must not have the segment . or .., which elsewhere means another place")
	errPathControl = errors.New("a path must not contain control characters")
)

// Validate returns why p cannot name a point, or nil.
func (p Path) Validate() error {
	switch {
	case p == "":
		return errPathEmpty
	case len(p) > MaxPath:
		return errPathLong
	}
	ascii := true
	i := 0
	for ; i+8 <= len(p); i += 8 { // hot code: every path of every block passes here
		w := word(p[i : i+8])
		ascii = ascii && w&(ones*0x80) == 0
		if below := (w - ones*0x20) &^ w; (below|zeros(w^ones*0x7f))&(ones*0x80) != 0 {
			return errPathControl
		}
	}
	for ; i < len(p); i++ {
		if p[i] < 0x20 || p[i] == 0x7f {
			return errPathControl
		}
		ascii = ascii && p[i] < utf8.RuneSelf
	}
	if !ascii && !utf8.ValidString(string(p)) {
		return errPathUTF8
	}
	if dotted(string(p)) {
		return errPathDots
	}
	return nil
}

// dotted reports whether a segment of a path is "." or "..".
func dotted(p string) bool {
	for at := 0; ; {
		i := strings.IndexByte(p[at:], '.')
		if i < 0 {
			return false
		}
		at += i
		end := at + 1
		if end < len(p) && p[end] == '.' {
			end++
		}
		if (at == 0 || p[at-1] == '/') && (end == len(p) || p[end] == '/') {
			return true
		}
		at = end
	}
}

// ones is a 1 in each byte of a word.
const ones = 0x0101010101010101

// word returns eight bytes as one number.
func word(p Path) uint64 {
	_ = p[7]
	return uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
		uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
}

// zeros has the highest bit of a byte set if any byte of the word is zero, and else none.
func zeros(w uint64) uint64 { return (w - ones) &^ w }

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
