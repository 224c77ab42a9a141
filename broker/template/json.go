package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/ingest"
)

// route is the way to a value in an object.
type route setting.Way

// find yields what stands at the end of the way, with the texts of its stars.
func (r route) find(v any, stars []string, yield func(v any, stars []string)) {
	if len(r) == 0 {
		yield(v, stars)
		return
	}
	s := r[0]
	switch v := v.(type) {
	case map[string]any:
		if s.Star {
			for _, key := range sortedKeys(v) {
				r[1:].find(v[key], append(stars, key), yield)
			}
		} else if next, ok := v[s.Key]; ok && s.Index < 0 {
			r[1:].find(next, stars, yield)
		}
	case []any:
		if s.Star {
			for i := range v {
				r[1:].find(v[i], append(stars, strconv.Itoa(i)), yield)
			}
		} else if s.Index >= 0 && s.Index < len(v) {
			r[1:].find(v[s.Index], stars, yield)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

var (
	errMany  = fmt.Errorf("the payload has more than %d values", maxReadings)
	errAfter = errors.New("something follows the object of JSON")
)

func (m *Match) takeJSON(payload []byte, emit func(*Reading)) error {
	if err := shallow(payload); err != nil {
		return err
	}
	if m.t.straight && json.Valid(payload) {
		return m.takeDirect(payload, emit)
	}
	return m.takeDecoded(payload, emit)
}

// takeDecoded takes the values of a payload that it decodes as a whole.
func (m *Match) takeDecoded(payload []byte, emit func(*Reading)) error {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	var whole any
	if err := d.Decode(&whole); err != nil {
		return fmt.Errorf("the payload is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errAfter
	}
	return m.takeWhole(whole, emit)
}

// takeWhole takes the values of an object.
func (m *Match) takeWhole(whole any, emit func(*Reading)) error {
	t := taker{m: m, emit: emit}
	if m.t.when != nil {
		m.t.when.find(whole, nil, func(v any, _ []string) {
			if t.at, t.err = moment(v); t.err != nil {
				t.err = fmt.Errorf("%s: %w", m.t.Time, t.err)
			}
		})
	}
	for i := range m.t.points {
		t.point(i, whole)
	}
	if m.t.Rest {
		t.rest(whole, "", 0)
	}
	return t.err
}

// shallow refuses what is nested too deeply before it is decoded.
func shallow(payload []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(payload); i++ {
		switch c := payload[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("the payload is nested more than %d deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// taker takes the values of one payload. It keeps the first error, and takes the others all the same.
type taker struct {
	m    *Match
	emit func(*Reading)
	at   time.Time
	n    int
	err  error
}

func (t *taker) add(r *Reading) {
	if t.n++; t.n > maxReadings {
		t.err = errMany
		return
	}
	r.Time = t.at
	t.emit(r)
}

func (t *taker) point(place int, whole any) {
	t.m.t.points[place].from.find(whole, nil, func(v any, stars []string) { t.value(place, v, stars) })
}

// value takes a value of a point.
func (t *taker) value(place int, v any, stars []string) {
	f := &t.m.t.points[place]
	r, err := f.reading(v)
	if err != nil {
		if t.err == nil {
			t.err = fmt.Errorf("%s: %w", f.Name, err)
		}
		return
	}
	r.Name, r.Command = t.m.name(f.Name), t.m.command(place)
	for i, star := range stars {
		r.Name = strings.ReplaceAll(r.Name, fmt.Sprintf("{%d}", i+1), Segment(star))
	}
	t.add(&r)
}

// rest takes all values that no point of the template takes.
func (t *taker) rest(v any, name string, depth int) {
	below := func(key string) string {
		if name == "" {
			return Segment(key)
		}
		return name + "/" + Segment(key)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			t.rest(v[key], below(key), depth+1)
		}
	case []any:
		for i := range v {
			t.rest(v[i], below(strconv.Itoa(i)), depth+1)
		}
	case nil:
	default:
		if t.m.t.taken(name) {
			return
		}
		plain := field{}
		plain.Scale = 1
		if s, is := v.(string); is {
			if value, err := text(s); err == nil {
				t.add(&Reading{Name: orValue(name), Value: value})
			}
		} else if r, err := plain.reading(v); err == nil {
			r.Name = orValue(name)
			t.add(&r)
		}
	}
}

// orValue names the value of a payload that is nothing but a value.
func orValue(name string) string {
	if name == "" {
		return "value"
	}
	return name
}

// taken reports whether rest leaves a value: a point or the time takes it, or the template leaves it out.
func (c *compiled) taken(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	if c.leave[name] || c.leave[first] {
		return true
	}
	keys := strings.Split(name, "/")
	if c.when != nil && c.when.leads(keys) {
		return true
	}
	for i := range c.points {
		if c.points[i].from.leads(keys) {
			return true
		}
	}
	return false
}

// leads reports whether the way leads to the value with these names.
func (r route) leads(keys []string) bool {
	if len(r) != len(keys) {
		return false
	}
	for i, s := range r {
		if !s.Star && s.Index < 0 && Segment(s.Key) != keys[i] || s.Index >= 0 && strconv.Itoa(s.Index) != keys[i] {
			return false
		}
	}
	return true
}

// takeSenML reads SenML of RFC 8428.
func takeSenML(now time.Time, payload []byte, emit func(*Reading)) error {
	if err := shallow(payload); err != nil {
		return err
	}
	report, err := ingest.NewParser().Parse(ingest.SenML, payload, ingest.Options{Now: now}, func(b *ingest.Batch) error {
		for i := range b.Samples {
			s := &b.Samples[i]
			r := Reading{Name: string(s.Point), Unit: b.Units[s.Point], Value: s.Value, Quality: s.Quality, Time: s.Time}
			emit(&r)
		}
		return nil
	})
	if err == nil && len(report.Errors) > 0 {
		e := &report.Errors[0]
		err = fmt.Errorf("record %d: %s", e.Line, e.Detail)
	}
	return err
}
