package xmlpull

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// spaces are the names of a document and the namespaces in scope.
type spaces struct {
	from     *source
	names    map[string]*qualified
	bindings []binding
}

// qualified is a name as written in a document.
type qualified struct{ raw, prefix, local string }

type binding struct{ prefix, space string }

const xmlSpace = "http://www.w3.org/XML/1998/namespace"

// maxBindings is how many declarations of namespaces are in scope at one position: each name is looked up in all of them.
const maxBindings = 65

// bind processes a namespace declaration.
func (s *spaces) bind(a written) error {
	prefix := ""
	if a.name.prefix != "" {
		prefix = a.name.local
	}
	space, err := s.known(a.value)
	if err != nil {
		return err
	}
	isXML := space.raw == xmlSpace
	switch {
	case prefix == "xml" && isXML:
		return nil
	case prefix == "xml", prefix == "xmlns", isXML, space.raw == "http://www.w3.org/2000/xmlns/":
		return s.from.Problem("a namespace that XML keeps for itself")
	case prefix != "" && space.raw == "":
		return s.from.Problem("prefix %s without a namespace", prefix)
	}
	if len(s.bindings) == maxBindings {
		return s.from.Problem("more than %d namespaces declared in each other", maxBindings-1)
	}
	s.bindings = append(s.bindings, binding{prefix, space.raw})
	return nil
}

// resolve returns the namespace of a prefix; "" is that of names without one.
func (s *spaces) resolve(prefix string) (string, error) {
	for _, b := range slices.Backward(s.bindings) {
		if b.prefix == prefix {
			return b.space, nil
		}
	}
	if prefix != "" {
		return "", s.from.Problem("prefix %s has no namespace", prefix)
	}
	return "", nil
}

// known returns the shared copy of a string.
func (s *spaces) known(b []byte) (*qualified, error) {
	if q := s.names[string(b)]; q != nil {
		return q, nil
	}
	if len(s.names) >= s.from.limits.Names {
		return nil, s.from.Problem("more than %d different names", s.from.limits.Names)
	}
	q := &qualified{raw: string(b)}
	s.names[q.raw] = q
	return q, nil
}

// intern parses a qualified name.
func (s *spaces) intern(b []byte) (*qualified, error) {
	q := s.names[string(b)]
	if q != nil && q.local != "" {
		return q, nil
	}
	if !named(b) {
		return nil, s.from.Problem("%.40q is no name", b)
	}
	q, err := s.known(b)
	if err != nil {
		return nil, err
	}
	q.local = q.raw
	if at := bytes.IndexByte(b, ':'); at >= 0 {
		q.prefix, q.local = q.raw[:at], q.raw[at+1:]
	}
	return q, nil
}

// named reports whether b is a qualified name. Beyond ASCII, all text characters are allowed.
func named(b []byte) bool {
	colon := -1
	for i, c := range b {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80
		switch {
		case letter:
		case c == ':' && colon < 0 && i > 0:
			colon = i
		case i > colon+1 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return len(b) > 0 && colon != len(b)-1 && utf8.Valid(b)
}
