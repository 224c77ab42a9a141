package xmlpull

import (
	"bytes"
)

// white reports whether a byte is white space.
func white(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func (r *Reader) endTag() (Kind, error) {
	body, err := r.tag(2)
	if err != nil {
		return 0, err
	}
	body = bytes.TrimRight(body, " \t\r\n")
	if len(r.stack) == 0 || string(body) != r.stack[len(r.stack)-1].name.raw {
		return 0, r.Problem("end tag %.40q does not end what is open", body)
	}
	r.pop()
	return End, nil
}

// pop ends the innermost element.
func (r *Reader) pop() {
	e := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	r.bindings = r.bindings[:e.bindings]
	r.name, r.attrs, r.text = Name{e.space, e.name.local}, r.attrs[:0], nil
}

// written is an attribute as written in the tag.
type written struct {
	name  *qualified
	value []byte
}

func (r *Reader) startTag() (Kind, error) {
	body, err := r.tag(1)
	if err != nil {
		return 0, err
	}
	if len(body) > 0 && body[len(body)-1] == '/' {
		r.emptied, body = true, body[:len(body)-1]
	}
	if len(r.stack) == 0 && r.rooted {
		return 0, r.Problem("a second root element")
	}
	if len(r.stack) >= r.limits.Depth {
		return 0, r.Problem("elements more than %d deep", r.limits.Depth)
	}
	r.rooted = true
	n := 0
	for n < len(body) && !white(body[n]) {
		n++
	}
	name, err := r.intern(body[:n])
	if err != nil {
		return 0, err
	}
	e := element{name: name, bindings: len(r.bindings)}
	if err := r.attributes(body[n:]); err != nil {
		return 0, err
	}
	if e.space, err = r.resolve(name.prefix); err != nil {
		return 0, err
	}
	r.stack = append(r.stack, e)
	r.name, r.text = Name{e.space, name.local}, nil
	return Start, nil
}

// attributes parses the attributes of a tag, namespace declarations first.
func (r *Reader) attributes(body []byte) error {
	var room [8]written
	list := room[:0]
	for {
		rest := bytes.TrimLeft(body, " \t\r\n")
		if len(rest) == 0 {
			break
		}
		if len(rest) == len(body) {
			return r.Problem("no space before an attribute")
		}
		if len(list) == r.limits.Attributes {
			return r.Problem("more than %d attributes", r.limits.Attributes)
		}
		a, after, err := r.attribute(rest)
		if err != nil {
			return err
		}
		body, list = after, append(list, a)
	}
	others := list[:0]
	for _, a := range list {
		if a.name.prefix != "xmlns" && a.name.raw != "xmlns" {
			others = append(others, a)
		} else if err := r.bind(a); err != nil {
			return err
		}
	}
	return r.expand(others)
}

// attribute parses one attribute, and returns the rest.
func (r *Reader) attribute(body []byte) (a written, rest []byte, err error) {
	equal := bytes.IndexByte(body, '=')
	if equal < 0 {
		return a, nil, r.Problem("attribute %.40q has no value", body)
	}
	if a.name, err = r.intern(bytes.TrimRight(body[:equal], " \t\r\n")); err != nil {
		return a, nil, err
	}
	body = bytes.TrimLeft(body[equal+1:], " \t\r\n")
	if len(body) == 0 || body[0] != '"' && body[0] != '\'' {
		return a, nil, r.Problem("the value of attribute %s has no quotes", a.name.raw)
	}
	end := bytes.IndexByte(body[1:], body[0])
	if end < 0 {
		return a, nil, r.Problem("the value of attribute %s has no end", a.name.raw)
	}
	a.value, err = r.decode(body[1:1+end], true)
	return a, body[end+2:], err
}

// expand fills attrs. No two may have the same name.
func (r *Reader) expand(list []written) error {
	r.attrs = r.attrs[:0]
	for _, a := range list {
		name := Name{Local: a.name.local}
		if a.name.prefix != "" {
			space, err := r.resolve(a.name.prefix)
			if err != nil {
				return err
			}
			name.Space = space
		}
		for i := range r.attrs {
			if r.attrs[i].Name == name {
				return r.Problem("attribute %s stands twice", a.name.raw)
			}
		}
		r.attrs = append(r.attrs, Attr{name, a.value})
	}
	return nil
}
