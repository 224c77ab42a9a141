package template

import (
	"encoding/json"
	"fmt"
	"strings"
)

// document is a payload of valid JSON that is not decoded as a whole: only the values that a template names are.
type document struct {
	whole   []byte
	members []member // of the object, if it is one
}

// member is a name with its value, as they are written.
type member struct{ key, value []byte }

// scan reads the members of a payload. It must be valid, and not nested too deeply.
func (d *document) scan(payload []byte) {
	d.whole = payload[space(payload, 0):]
	d.members = d.members[:0]
	if len(d.whole) > 0 && d.whole[0] == '{' {
		each(d.whole, func(key, value []byte) bool {
			d.members = append(d.members, member{key, value})
			return true
		})
	}
}

// find returns the value at the end of a way without stars, false if there is none.
func (d *document) find(way route) (any, bool) {
	at, rest := d.whole, way
	if len(way) > 0 && way[0].Index < 0 {
		at, rest = d.member(way[0].Key), way[1:]
	}
	for _, s := range rest {
		if at = below(at, s.Key, s.Index); at == nil {
			return nil, false
		}
	}
	if len(at) == 0 {
		return nil, false
	}
	return valueOf(at), true
}

// member returns the value of a name of the whole object. Of several with one name the last counts, as in encoding/json.
func (d *document) member(name string) (value []byte) {
	for _, m := range d.members {
		if named(m.key, name) {
			value = m.value
		}
	}
	return value
}

// below returns the value of a name in an object, or of a place in a list, nil if there is none.
func below(at []byte, name string, place int) (value []byte) {
	switch {
	case len(at) == 0:
	case place < 0 && at[0] == '{':
		each(at, func(key, v []byte) bool {
			if named(key, name) {
				value = v
			}
			return true
		})
	case place >= 0 && at[0] == '[':
		i := 0
		each(at, func(_, v []byte) bool {
			if i == place {
				value = v
			}
			i++
			return value == nil
		})
	}
	return value
}

// each calls yield with the members of an object, or with the elements of a list without keys, until it returns false.
func each(b []byte, yield func(key, value []byte) bool) {
	object := b[0] == '{'
	i := space(b, 1)
	for i < len(b) && b[i] != '}' && b[i] != ']' {
		var key []byte
		if object {
			end := skip(b, i)
			key = b[i:end]
			i = space(b, space(b, end)+1) // behind the colon
		}
		end := skip(b, i)
		if !yield(key, b[i:end]) {
			return
		}
		if i = space(b, end); i < len(b) && b[i] == ',' {
			i = space(b, i+1)
		}
	}
}

// space returns the place of the next byte that is no space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skip returns the end of the value that begins at a place.
func skip(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipText(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) && !strings.ContainsRune(",:}] \n\t\r", rune(b[i])) {
		i++
	}
	return i
}

func skipText(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipText(b, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}

// named reports whether a key, with its quotes, is a name.
func named(key []byte, name string) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			var text string
			return json.Unmarshal(key, &text) == nil && text == name
		}
	}
	return string(key[1:len(key)-1]) == name
}

// valueOf makes of a value what encoding/json makes of it with UseNumber; an object or a list is empty.
func valueOf(b []byte) any {
	switch b[0] {
	case '{':
		return map[string]any{}
	case '[':
		return []any{}
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	case '"':
		for _, c := range b {
			if c == '\\' || c >= 0x80 {
				var text string
				_ = json.Unmarshal(b, &text) // it is valid
				return text
			}
		}
		return string(b[1 : len(b)-1])
	}
	return json.Number(b)
}

// direct reports whether all values of a template can be found without decoding the whole payload.
func (c *compiled) direct() bool {
	straight := func(r route) bool {
		for _, s := range r {
			if s.Star {
				return false
			}
		}
		return true
	}
	for i := range c.points {
		if !straight(c.points[i].from) {
			return false
		}
	}
	return !c.Rest && straight(c.when)
}

// takeDirect takes the values of a valid payload of a template that is direct.
func (m *Match) takeDirect(payload []byte, emit func(*Reading)) error {
	var few [16]member
	d := document{members: few[:0]}
	d.scan(payload)
	t := taker{m: m, emit: emit}
	if m.t.when != nil {
		if v, ok := d.find(m.t.when); ok {
			if t.at, t.err = moment(v); t.err != nil {
				t.err = fmt.Errorf("%s: %w", m.t.Time, t.err)
			}
		}
	}
	for i := range m.t.points {
		if v, ok := d.find(m.t.points[i].from); ok {
			t.value(i, v, nil)
		}
	}
	return t.err
}
