package xmlpull

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// characters reads text until the next "<".
func (r *Reader) characters() (Kind, error) {
	from := 0
	for {
		if i := bytes.IndexByte(r.buf[r.pos+from:], '<'); i >= 0 {
			return r.characterData(from + i)
		}
		from = len(r.buf) - r.pos
		if more, err := r.more(); err != nil {
			return 0, err
		} else if !more {
			return r.characterData(from)
		}
	}
}

func (r *Reader) characterData(n int) (Kind, error) {
	raw := r.buf[r.pos : r.pos+n]
	if len(r.stack) == 0 {
		if len(bytes.Trim(raw, " \t\r\n")) > 0 {
			return 0, r.Problem("text outside the root element")
		}
		r.pos += n
		return 0, nil
	}
	if bytes.Contains(raw, []byte("]]>")) {
		return 0, r.Problem("]]> within text: write ]]&gt;")
	}
	text, err := r.decode(raw, false)
	if err != nil {
		return 0, err
	}
	r.pos += n
	r.text = text
	return Text, nil
}

// plain checks bytes in which nothing is replaced.
func (r *source) plain(b []byte) error {
	for _, c := range b {
		if c < 0x20 && !white(c) {
			return r.Problem("control character 0x%02X", c)
		}
	}
	if !utf8.Valid(b) || bytes.Contains(b, []byte("\uFFFE")) || bytes.Contains(b, []byte("\uFFFF")) {
		return r.Problem("characters that XML does not have, or not in UTF-8")
	}
	return nil
}

// Properties of a text that cannot be passed on unchanged.
const (
	reference = 1 << iota
	ending
	wide
)

// scan returns the properties of a text.
func (r *source) scan(b []byte, value bool) (found int, err error) {
	for _, c := range b {
		switch {
		case c == '&':
			found |= reference
		case c >= 0x80:
			found |= wide
		case c < 0x20 && !white(c):
			return 0, r.Problem("control character 0x%02X", c)
		case c < 0x20 && value, c == '\r':
			found |= ending
		}
	}
	return found, nil
}

// decode returns text with its references replaced and its line ends normalised; in attribute values all white space becomes spaces.
func (r *source) decode(b []byte, value bool) ([]byte, error) {
	found, err := r.scan(b, value)
	if err == nil && found&wide != 0 {
		err = r.plain(b)
	}
	if err != nil {
		return nil, err
	}
	if found&ending != 0 {
		if b = r.lineEnds(b); value {
			spaced(b)
		}
	}
	if found&reference == 0 {
		return b, nil
	}
	return r.references(b)
}

// spaced replaces all white space by spaces.
func spaced(b []byte) {
	for i, c := range b {
		if white(c) {
			b[i] = ' '
		}
	}
}

// room returns memory for n bytes that lasts until the next token.
func (r *source) room(n int) []byte {
	if cap(r.keep)-len(r.keep) < n {
		r.keep = make([]byte, 0, max(n, 1024))
	}
	at := len(r.keep)
	r.keep = r.keep[:at+n]
	return r.keep[at : at : at+n]
}

// lineEnds returns a copy with a single line feed at each line end.
func (r *source) lineEnds(b []byte) []byte {
	out := r.room(len(b))
	for i, c := range b {
		switch {
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
		case c == '\r':
			out = append(out, '\n')
		default:
			out = append(out, c)
		}
	}
	return out
}

// references returns a copy with references replaced by their characters; each is shorter than its reference.
func (r *source) references(b []byte) ([]byte, error) {
	out := r.room(len(b))
	for {
		at := bytes.IndexByte(b, '&')
		if at < 0 {
			return append(out, b...), nil
		}
		out = append(out, b[:at]...)
		b = b[at+1:]
		end := bytes.IndexByte(b[:min(len(b), 12)], ';')
		if end < 0 {
			return nil, r.Problem("& that begins no reference: write &amp;")
		}
		c, ok := character(b[:end])
		if !ok {
			return nil, r.Problem("&%s; is not known: only the five entities of XML and numbers of its characters are", b[:end])
		}
		out, b = utf8.AppendRune(out, c), b[end+1:]
	}
}

// character returns the character of a reference.
func character(name []byte) (rune, bool) {
	switch string(name) {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	digits, base := name[1:], 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseUint(string(digits), base, 32)
	if err != nil || len(digits) == 0 || digits[0] == '+' {
		return 0, false
	}
	c := rune(n)
	allowed := c == '\t' || c == '\n' || c == '\r' || c >= 0x20 && c <= 0xD7FF || c >= 0xE000 && c <= 0xFFFD || c >= 0x10000 && c <= 0x10FFFF
	return c, allowed && n <= 0x10FFFF
}
