package ingest

import (
	"errors"
	"strings"
	"unicode/utf8"

	"voltbus/point"
)

// maxNames bounds the paths that a parser remembers, and maxFolders the places that they stand
// below; beyond it, it starts anew.
const (
	maxNames   = 1 << 17
	maxFolders = 8
)

var errNoPoint = errors.New("names no point")

// names gives each path that was read before without making it again.
type names struct {
	under   point.Path
	known   map[string]point.Path // by the name below under
	folders map[point.Path]map[string]point.Path
}

// use sets what is put before each name.
func (n *names) use(under point.Path) {
	n.under, n.known = under, n.folders[under]
	if n.known != nil {
		return
	}
	if n.folders == nil || len(n.folders) >= maxFolders {
		n.folders = map[point.Path]map[string]point.Path{}
	}
	n.known = map[string]point.Path{}
	n.folders[under] = n.known
}

// path returns the checked path of a point's name.
func (n *names) path(name []byte) (point.Path, error) {
	if p, ok := n.known[string(name)]; ok {
		return p, nil
	}
	if len(name) == 0 {
		return "", errNoPoint
	}
	p := n.under.Join(string(name))
	if err := p.Validate(); err != nil {
		return "", err
	}
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[string(p[len(p)-len(name):])] = p
	return p, nil
}

const hexDigits = "0123456789ABCDEF"

// appendSegment appends a text as one segment of a path: "/", "%", control characters and what is
// not UTF-8 are percent-encoded, so that no text can leave its place and different texts stay
// different.
func appendSegment(dst []byte, text string) []byte {
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
