package ingest

import (
	"errors"
	"strings"
	"unicode/utf8"

	"voltbus/point"
)

// namesAtOnce is how many bytes of paths share one allocation, which lives as long as one of them is used.
const namesAtOnce = 16 << 10

var errNoPoint = errors.New("names no point")

// names allocates paths, many in one allocation. It caches none: forming one costs less than finding it.
type names struct {
	under point.Path
	text  strings.Builder
}

// path returns the checked path of a point's name.
func (n *names) path(name []byte) (point.Path, error) {
	if len(name) == 0 {
		return "", errNoPoint
	}
	if size := len(n.under) + 1 + len(name); n.text.Cap()-n.text.Len() < size {
		n.text = strings.Builder{}
		n.text.Grow(max(namesAtOnce, size))
	}
	begin := n.text.Len()
	if n.under != "" {
		n.text.WriteString(string(n.under))
		n.text.WriteByte('/')
	}
	n.text.Write(name)
	p := point.Path(n.text.String()[begin:])
	return p, p.Validate()
}

const hexDigits = "0123456789ABCDEF"

// appendSegment appends a text as one segment of a path: "/", "%", control characters, invalid UTF-8, and "." and ".." as
// whole segments are percent-encoded, so that no text can leave its segment and different texts stay different.
func appendSegment(dst []byte, text string) []byte {
	if text == "." || text == ".." { // not valid path segments
		return append(dst, strings.Repeat("%2E", len(text))...)
	}
	if !strings.ContainsFunc(text, special) {
		return append(dst, text...)
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !special(r) || (r == utf8.RuneError && size > 1) {
			dst = append(dst, text[i:i+size]...)
		} else {
			dst = append(dst, '%', hexDigits[text[i]>>4], hexDigits[text[i]&15])
		}
		i += size
	}
	return dst
}

func special(r rune) bool {
	return r < 0x20 || r == 0x7f || r == '/' || r == '%' || r == utf8.RuneError
}
