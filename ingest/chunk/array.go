package chunk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

var (
	errShape = errors.New(`must be a JSON array of readings, {"samples": […]}, {"series": […]}, or an array of SenML records`)
	errEarly = errors.New("ends too early: the JSON is not closed; is the file complete?")
	errComma = errors.New("has no comma between two readings")
	errGap   = errors.New("has nothing where a value belongs")
)

// array splits JSON between two elements of its array of readings.
type array struct {
	*Splitter
	senml  bool
	inside bool   // rest is inside an array
	object bool   // the array is part of an object
	begun  bool   // the opening bracket or brace was read
	more   bool   // an element was read, so a comma precedes the next
	series bool   // the elements are series
	prefix string // text that reopens the array
	suffix string
	base   base
	body   []byte
	broken error // from reading the file
}

func (a *array) cut() (Chunk, error) {
	if err := a.fill(a.size + ahead); err != nil {
		return Chunk{}, err
	}
	if !a.begun {
		if err := a.open(); err != nil {
			return Chunk{}, err
		}
	}
	for {
		if !a.inside {
			if err := a.enter(); err != nil { // io.EOF at the end
				return Chunk{}, err
			}
		}
		p, ok, err := a.elements()
		if err != nil || ok {
			return p, err
		}
		a.inside = false
	}
}

// open reads the first byte.
func (a *array) open() error {
	a.take(len(a.rest) - len(bytes.TrimPrefix(a.rest, []byte("\xef\xbb\xbf"))))
	switch c := a.peek(); {
	case c == 0 && a.ended:
		return io.EOF
	case c == '[':
		a.inside, a.prefix, a.suffix = true, "[", "]"
	case c == '{' && !a.senml:
		a.object = true
	default:
		return wrong("", errShape)
	}
	a.begun = true
	a.take(1)
	return nil
}

// enter advances in an object to the next array of readings. At the end it returns io.EOF.
func (a *array) enter() error {
	for a.object {
		switch a.peek() {
		case ',':
			a.take(1)
			continue
		case '}':
			a.take(1)
			a.object = false
			continue
		case '"':
		default:
			return a.damage(a.peek(), errShape)
		}
		name, err := a.value()
		if err != nil {
			return err
		}
		key := string(name)
		if a.peek() != ':' {
			return a.damage(a.peek(), errShape)
		}
		a.take(1)
		if (key == `"samples"` || key == `"series"`) && a.peek() == '[' {
			a.take(1)
			a.inside, a.more, a.series = true, false, key == `"series"`
			a.prefix, a.suffix = "{"+key+":[", "]}"
			return nil
		}
		if _, err := a.value(); err != nil {
			return err
		}
	}
	if a.peek() != 0 {
		return wrong("", errors.New("has something behind the JSON"))
	}
	return io.EOF
}

// elements takes elements of the array. It returns false after the last.
func (a *array) elements() (p Chunk, ok bool, err error) {
	a.body = append(a.body[:0], a.prefix...)
	if head := a.base.record(); head != nil {
		a.body = append(a.body, head...)
		p.Repeated = 1
	}
	for !ok || len(a.body) < a.size {
		c := a.peek()
		if c == ']' {
			a.take(1)
			a.inside, a.more = false, false
			break
		}
		if c == ',' && a.more {
			a.take(1)
			a.peek()
		} else if a.more {
			return p, false, a.damage(c, errComma)
		}
		if !ok {
			ok, p.Offset, p.First = true, a.offset, a.next
		}
		if err := a.element(); err != nil {
			return p, ok, err
		}
	}
	a.body = append(a.body, a.suffix...)
	p.Body = a.body
	return p, ok, nil
}

// element copies one element to the body.
func (a *array) element() error {
	v, err := a.value()
	if err != nil {
		return err
	}
	if last := a.body[len(a.body)-1]; last != '[' {
		a.body = append(a.body, ',')
	}
	a.body = append(a.body, v...)
	a.more = true
	a.next++
	if a.series {
		a.next += rows(v) - 1
	}
	if a.senml {
		a.base.note(v)
	}
	return nil
}

// peek skips white space and returns the next byte; 0 at the end.
func (a *array) peek() byte {
	for {
		a.take(len(a.rest) - len(bytes.TrimLeft(a.rest, " \t\r\n")))
		if len(a.rest) > 0 {
			return a.rest[0]
		}
		if a.ended || a.broken != nil {
			return 0
		}
		a.broken = a.fill(a.size + ahead)
	}
}

// damage describes the error at a byte, 0 for the end of the file.
func (a *array) damage(at byte, err error) error {
	switch {
	case a.broken != nil:
		return a.broken
	case at == 0:
		err = errEarly
	}
	return wrong("", err)
}

// value takes a value as written, and reads on until all of it is in memory.
func (a *array) value() ([]byte, error) {
	switch c := a.peek(); c {
	case 0, ',', ':', ']', '}':
		return nil, a.damage(c, errGap)
	}
	for {
		if n := valueEnd(a.rest); n > 0 && (n < len(a.rest) || a.ended) {
			return a.take(n), nil
		}
		if a.ended {
			return nil, wrong("", errEarly)
		}
		if len(a.rest) >= maxSize {
			return nil, wrong("a value", errLarge)
		}
		if err := a.fill(min(maxSize, max(2*len(a.rest), a.size+ahead))); err != nil {
			return nil, err
		}
	}
}

// valueEnd returns the end of the value at the beginning of b, judging by brackets and quotes alone; 0 if it
// does not end in b or there is none.
func valueEnd(b []byte) int {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case quoted && c == '\\':
			i++
			continue
		case c == '"':
			quoted = !quoted
		case quoted:
			continue
		case c == '{' || c == '[':
			depth++
			continue
		case depth == 0 && (c == ',' || c == ':' || c == ']' || c == '}' || c <= ' '):
			return i
		case c == '}' || c == ']':
			depth--
		default:
			continue
		}
		if depth == 0 && !quoted {
			return i + 1
		}
	}
	if depth == 0 && !quoted {
		return len(b)
	}
	return 0
}

// rows counts the readings of a series: its tuples, but at least one.
func rows(series []byte) int {
	n, depth, quoted := 0, 0, false
	for i := 0; i < len(series); i++ {
		switch c := series[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth == 3 {
				n++
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return max(1, n)
}

// base keeps the SenML base fields that apply to the following records (RFC 8428, section 4.1).
type base struct {
	name, unit, time, value, sum, version json.RawMessage
}

// note reads the base fields of a record.
func (b *base) note(record []byte) {
	if !bytes.Contains(record, []byte(`"b`)) && !bytes.Contains(record, []byte(`\u`)) {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(record, &fields) != nil {
		return // the node will report it
	}
	for _, f := range b.fields() {
		v, ok := fields[f.name]
		if ok && len(v) > 0 && (v[0] == '"') == f.text && (f.text || v[0] == '-' || v[0]-'0' <= 9) {
			*f.value = v
		}
	}
}

// record returns a record that repeats the base fields, nil if there are none.
func (b *base) record() []byte {
	var out []byte
	for _, f := range b.fields() {
		if *f.value == nil {
			continue
		}
		out = append(append(append(append(out, `,"`...), f.name...), `":`...), *f.value...)
	}
	if out == nil {
		return nil
	}
	out[0] = '{'
	return append(out, '}')
}

type baseField struct {
	name  string
	text  bool
	value *json.RawMessage
}

func (b *base) fields() []baseField {
	return []baseField{
		{"bn", true, &b.name},
		{"bt", false, &b.time},
		{"bu", true, &b.unit},
		{"bv", false, &b.value},
		{"bs", false, &b.sum},
		{"bver", false, &b.version},
	}
}
