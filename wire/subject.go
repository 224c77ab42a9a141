package wire

import (
	"errors"
	"slices"
	"strings"

	"voltbus/point"
)

// The first tokens of live subjects.
const (
	ScanPrefix  = "live.scan."  // + device: one message per scan of the device
	PointPrefix = "live.point." // + point: one message per sample

	// The same messages under breadth-first paths, which begin with the last segment: campus/b1/ahu1 is
	// ahu1.b1.campus. A node does not forward them to other nodes.
	BreadthScanPrefix  = "live.breadth.scan."
	BreadthPointPrefix = "live.breadth.point."
)

// emptySegment represents an empty segment, which a subject cannot contain. Paths contain no control
// characters, so it is unambiguous.
const emptySegment = "%00"

var errSubject = errors.New("not a subject of a point path")

const upperHex = "0123456789ABCDEF"

// AppendSubject appends the path as bus tokens: slashes become dots, and what a token cannot contain ("." "*"
// ">" "%" and white space) is percent-encoded.
func AppendSubject(dst []byte, p point.Path) []byte {
	empty := true
	for i := range len(p) {
		c := p[i]
		switch {
		case c == '/':
			if empty {
				dst = append(dst, emptySegment...)
			}
			dst = append(dst, '.')
			empty = true
			continue
		case c <= ' ' || c == 0x7f || c == '.' || c == '*' || c == '>' || c == '%':
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		default:
			dst = append(dst, c)
		}
		empty = false
	}
	if empty {
		dst = append(dst, emptySegment...)
	}
	return dst
}

// AppendBreadthSubject appends the path as bus tokens in reverse order, as in breadth-first subjects.
func AppendBreadthSubject(dst []byte, p point.Path) []byte {
	for {
		i := strings.LastIndexByte(string(p), '/')
		dst = AppendSubject(dst, p[i+1:])
		if i < 0 {
			return dst
		}
		dst, p = append(dst, '.'), p[:i]
	}
}

// ParseBreadthSubject returns the path of a breadth-first subject after the prefix.
func ParseBreadthSubject(prefix, subject string) (point.Path, error) {
	p, err := ParseSubject(prefix, subject)
	if err != nil {
		return "", err
	}
	segments := strings.Split(string(p), "/")
	slices.Reverse(segments)
	return point.Path(strings.Join(segments, "/")), nil
}

// Subject returns prefix and path as a subject.
func Subject(prefix string, p point.Path) string {
	buf := make([]byte, 0, len(prefix)+len(p)+16)
	return string(AppendSubject(append(buf, prefix...), p))
}

// ParseSubject is the inverse of Subject.
func ParseSubject(prefix, subject string) (point.Path, error) {
	rest, found := strings.CutPrefix(subject, prefix)
	if !found || rest == "" {
		return "", errSubject
	}
	tokens := strings.Split(rest, ".")
	for i, token := range tokens {
		segment, err := unescape(token)
		if err != nil {
			return "", err
		}
		tokens[i] = segment
	}
	return point.Path(strings.Join(tokens, "/")), nil
}

func unescape(token string) (string, error) {
	if token == emptySegment {
		return "", nil
	}
	if token == "" || strings.ContainsAny(token, "*> /") {
		return "", errSubject
	}
	if !strings.Contains(token, "%") {
		return token, nil
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		if token[i] != '%' {
			b.WriteByte(token[i])
			continue
		}
		if i+2 >= len(token) {
			return "", errSubject
		}
		hi := strings.IndexByte(upperHex, token[i+1])
		lo := strings.IndexByte(upperHex, token[i+2])
		if hi < 0 || lo < 0 || hi<<4|lo == 0 {
			return "", errSubject
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), nil
}

// Covers reports whether every subject that the pattern narrow matches is matched by wide, where * stands for
// one token, and > at the end for one or more. A subject without either is a pattern that matches itself.
func Covers(wide, narrow string) bool {
	for {
		w, restWide, moreWide := strings.Cut(wide, ".")
		n, restNarrow, moreNarrow := strings.Cut(narrow, ".")
		switch {
		case w == ">":
			return true
		case n == ">" || (w != "*" && w != n):
			return false
		case !moreWide || !moreNarrow:
			return moreWide == moreNarrow
		}
		wide, narrow = restWide, restNarrow
	}
}
