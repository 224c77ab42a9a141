package wire

import (
	"encoding/json"
	"strconv"
	"time"

	"voltbus/point"
)

// Reader parses JSON in the form that voltbus and most programs write, several times as fast as
// encoding/json. It accepts only valid JSON; what it does not accept is left to encoding/json. Its results
// are slices of the text. It is used by one goroutine at a time.
type Reader struct {
	text []byte
	at   int
}

// NewReader returns a reader of a text.
func NewReader(text []byte) *Reader { return &Reader{text: text} }

// next skips white space, and consumes c if it comes next.
func (r *Reader) next(c byte) bool {
	r.blank()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *Reader) blank() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\n' || r.text[r.at] == '\t' || r.text[r.at] == '\r') {
		r.at++
	}
}

// Ended reports whether nothing follows.
func (r *Reader) Ended() bool {
	r.blank()
	return r.at == len(r.text)
}

// Plain consumes a string of plain ASCII, and returns it without quotes.
func (r *Reader) Plain() ([]byte, bool) {
	if !r.next('"') {
		return nil, false
	}
	begin := r.at
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[begin : r.at-1], true
		case c == '\\' || c < ' ' || c >= 0x80:
			return nil, false
		}
	}
	return nil, false
}

// key consumes the name of a member.
func (r *Reader) key() ([]byte, bool) {
	name, ok := r.Plain()
	return name, ok && r.next(':')
}

// Value consumes a value of any kind, and returns it as written.
func (r *Reader) Value() (json.RawMessage, bool) {
	r.blank()
	begin := r.at
	if r.at == len(r.text) {
		return nil, false
	}
	switch r.text[r.at] {
	case '"':
		_, ok := r.Plain()
		return r.text[begin:r.at], ok
	case '{', '[':
		return r.nested()
	}
	for r.at < len(r.text) && !ends(r.text[r.at]) {
		r.at++
	}
	word := r.text[begin:r.at]
	return word, isNumber(word) || json.Valid(word)
}

// ends reports whether the byte ends a number or a word.
func ends(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r'
}

// isNumber recognises plain numbers: digits, with an optional point and minus.
func isNumber(word []byte) bool {
	if len(word) > 0 && word[0] == '-' {
		word = word[1:]
	}
	if len(word) == 0 || word[0] == '.' || word[len(word)-1] == '.' || (word[0] == '0' && len(word) > 1 && word[1] != '.') {
		return false
	}
	dots := 0
	for _, c := range word {
		switch {
		case c == '.':
			dots++
		case c < '0' || c > '9':
			return false
		}
	}
	return dots <= 1
}

// mostDepth bounds the nesting of objects and lists parsed without encoding/json.
const mostDepth = 16

// nested consumes an object or a list.
func (r *Reader) nested() (json.RawMessage, bool) {
	if quick := *r; quick.pass(mostDepth) {
		raw := r.text[r.at:quick.at]
		r.at = quick.at
		return raw, true
	}
	begin, depth, quoted := r.at, 0, false
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case quoted && c == '\\':
			r.at++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				r.at++
				raw := r.text[begin:r.at]
				return raw, json.Valid(raw)
			}
		}
	}
	return nil, false
}

// pass skips a value with bounded nesting and only plain strings.
func (r *Reader) pass(depth int) bool {
	r.blank()
	if r.at == len(r.text) || depth == 0 {
		return false
	}
	switch r.text[r.at] {
	case '{':
		return r.Members(func([]byte) bool { return r.pass(depth - 1) })
	case '[':
		return r.Each(func() bool { return r.pass(depth - 1) })
	}
	_, ok := r.Value()
	return ok
}

// Members calls take for the members of an object; take must consume the value; false ends the iteration.
func (r *Reader) Members(take func(name []byte) bool) bool {
	if !r.next('{') {
		return false
	}
	if r.next('}') {
		return true
	}
	for {
		name, ok := r.key()
		if !ok || !take(name) {
			return false
		}
		if !r.next(',') {
			return r.next('}')
		}
	}
}

// quickArguments parses the body of a request; false if encoding/json must do it, for example for duplicate members.
func quickArguments(body []byte) (a Arguments, ok bool) {
	r := Reader{text: body}
	ok = r.Members(func(name []byte) bool {
		switch {
		case string(name) == "args" && a.Args == nil:
			return r.list(&a.Args)
		case string(name) == "kwargs" && a.Kwargs == nil:
			a.Kwargs = map[string]json.RawMessage{}
			return r.Members(func(name []byte) bool {
				value, ok := r.Value()
				if _, twice := a.Kwargs[string(name)]; twice {
					return false
				}
				a.Kwargs[string(name)] = value
				return ok
			})
		}
		return false
	}) && r.Ended()
	return a, ok
}

// list consumes a list.
func (r *Reader) list(into *[]json.RawMessage) bool {
	*into = []json.RawMessage{}
	return r.Each(func() bool {
		value, ok := r.Value()
		*into = append(*into, value)
		return ok
	})
}

// Each calls take for each element of a list; take must consume it; false ends the iteration.
func (r *Reader) Each(take func() bool) bool {
	if !r.next('[') {
		return false
	}
	if r.next(']') {
		return true
	}
	for {
		if !take() {
			return false
		}
		if !r.next(',') {
			return r.next(']')
		}
	}
}

// Number consumes a number.
func (r *Reader) Number() (float64, bool) {
	word, ok := r.Value()
	if !ok || word[0] != '-' && (word[0] < '0' || word[0] > '9') {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(word), 64)
	return n, err == nil
}

// quickResult returns the result of a reply that has nothing else.
func quickResult(body []byte) (json.RawMessage, bool) {
	r := Reader{text: body}
	if !r.next('{') {
		return nil, false
	}
	if name, ok := r.key(); !ok || string(name) != "result" {
		return nil, false
	}
	value, ok := r.Value()
	return value, ok && r.next('}') && r.Ended()
}

// Entry is one point of a live message of a scan.
type Entry struct {
	Name  string // within the device
	Value json.RawMessage
}

// ParseEntries is ParseScan with the points as a list, in their order, instead of Scan.Points. The values are
// slices of data.
func ParseEntries(data []byte) (*Scan, []Entry, error) {
	if s, list, ok := quickScan(data); ok {
		return s, list, nil
	}
	s, err := ParseScan(data)
	if err != nil {
		return nil, nil, err
	}
	list := make([]Entry, 0, len(s.Points))
	for name, raw := range s.Points {
		list = append(list, Entry{name, raw})
	}
	s.Points = nil
	return s, list, nil
}

// quickScan parses a scan whose points are all good and have its time, the usual case.
func quickScan(data []byte) (*Scan, []Entry, bool) {
	s := &Scan{}
	var list []Entry
	r := Reader{text: data}
	ok := r.Members(func(name []byte) (ok bool) {
		switch string(name) {
		case "device":
			var device []byte
			device, ok = r.Plain()
			s.Device = point.Path(device)
		case "time":
			s.Time, ok = r.moment()
		case "slot":
			s.Slot, ok = r.moment()
		case "points":
			if list == nil {
				list, ok = r.entries()
			}
		}
		return ok
	})
	return s, list, ok && r.Ended()
}

func (r *Reader) moment() (time.Time, bool) {
	text, ok := r.Plain()
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, string(text))
	return t, err == nil
}

// usualPoints is the initial capacity of a scan.
const usualPoints = 32

func (r *Reader) entries() ([]Entry, bool) {
	list := make([]Entry, 0, usualPoints)
	ok := r.Members(func(name []byte) bool {
		value, ok := r.Value()
		list = append(list, Entry{string(name), value})
		return ok
	})
	return list, ok
}
