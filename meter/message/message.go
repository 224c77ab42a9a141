// Package message reads meter readings from the message formats of metering systems.
package message

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/meter"
)

// List is the readings and events of one message, in their order, and what is wrong with those that are none.
type List struct {
	Readings []meter.Reading
	Events   []meter.Event
	Refused  []Refusal
	places   []int // where each of Readings stands in the message
	events   []int // where each of Events stands
	count    int
}

// Refusal says why what stands at an index of a message is no reading, or was not taken.
type Refusal struct {
	Index  int
	Reason string
}

// Add adds what stands next in the message: a reading, or why it is none.
func (l *List) Add(r *meter.Reading, problem error) { l.AddAt(l.count, r, problem) }

// AddAt adds what stands at an index of the message, in any order.
func (l *List) AddAt(index int, r *meter.Reading, problem error) {
	if problem != nil {
		l.Refused = append(l.Refused, Refusal{index, problem.Error()})
	} else {
		l.Readings, l.places = append(l.Readings, *r), append(l.places, index)
	}
	l.count = max(l.count, index+1)
}

// Grow makes room for so many more readings.
func (l *List) Grow(n int) {
	l.Readings, l.places = slices.Grow(l.Readings, n), slices.Grow(l.places, n)
}

// AddEvent adds an event that stands next in the message, or why it is none.
func (l *List) AddEvent(e *meter.Event, problem error) {
	if problem != nil {
		l.Refused = append(l.Refused, Refusal{l.count, problem.Error()})
	} else {
		l.Events, l.events = append(l.Events, *e), append(l.events, l.count)
	}
	l.count++
}

// EventPlace returns where one of Events stands in the message.
func (l *List) EventPlace(event int) int { return l.events[event] }

// Len returns how many readings and events stand in the message, also those that are refused: the highest index and one.
func (l *List) Len() int { return l.count }

// Place returns where one of Readings stands in the message.
func (l *List) Place(reading int) int { return l.places[reading] }

// MaxMeter is the most bytes of the id of a meter, as the directory of a store has it.
const MaxMeter = 64

// Text is a reading as texts, as most messages have it. Fields that a message does not have are empty.
type Text struct{ Meter, Channel, Type, End, Value []byte }

var (
	errMeter     = errors.New("meter: missing")
	errLongMeter = fmt.Errorf("meter: more than %d bytes", MaxMeter)
	errChannel   = errors.New("channel: missing: give the channel or the reading type")
	errTime      = errors.New("missing: write such as 2026-03-01T00:15:00Z")
	errValue     = errors.New("missing")
)

// Reading reads the texts.
func (t *Text) Reading() (r meter.Reading, err error) {
	if r, err = t.Key(); err != nil {
		return r, err
	}
	if r.End, err = ParseTime(t.End); err != nil {
		return r, fmt.Errorf("end: %w", err)
	}
	if r.Value, err = parseValue(t.Value); err != nil {
		return r, fmt.Errorf("value: %w", err)
	}
	return r, nil
}

// Key reads the meter with the channel or reading type: a reading without its end and value.
func (t *Text) Key() (r meter.Reading, err error) {
	if len(t.Meter) == 0 {
		return r, errMeter
	}
	if len(t.Meter) > MaxMeter { // a document names a meter once for all of its readings
		return r, errLongMeter
	}
	r.Meter = string(t.Meter)
	switch {
	case len(t.Channel) > 0:
		if r.Channel, err = strconv.Atoi(string(t.Channel)); err != nil || r.Channel < 1 || r.Channel > 65535 {
			return r, fmt.Errorf("channel: %.40q: write a number from 1 to 65535", t.Channel)
		}
	case len(t.Type) > 0:
		if r.Type, err = meter.ParseReadingType(string(t.Type)); err != nil {
			return r, fmt.Errorf("readingType: %w", err)
		}
	default:
		return r, errChannel
	}
	return r, nil
}

// ParseTime reads a moment with its zone, as xs:dateTime and RFC 3339 write it.
func ParseTime(text []byte) (time.Time, error) {
	if len(text) == 0 {
		return time.Time{}, errTime
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return t, fmt.Errorf("%.40q: write such as 2026-03-01T00:15:00Z, with the zone", text)
	}
	return t, nil
}

// parseValue reads a decimal number. What only Go writes as numbers is none.
func parseValue(text []byte) (float64, error) {
	if len(text) == 0 {
		return 0, errValue
	}
	s := string(text)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || strings.ContainsAny(s, "xXpPiInN_") {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	return v, nil
}

// Answer says what became of the readings of a message.
type Answer struct {
	Accepted int
	Refused  []Refusal // by index
}

// ErrMany is that a message has more readings than MaxReadings.
var ErrMany = fmt.Errorf("more than %d readings: send them in several messages", MaxReadings)

// MaxReadings is the most readings of one message.
const MaxReadings = 1_000_000

// JSON returns the answer as operation meter.record has it.
func (a *Answer) JSON() ([]byte, error) {
	if len(a.Refused) == 0 { // as most are
		return append(strconv.AppendInt([]byte(`{"accepted":`), int64(a.Accepted), 10), `,"refused":[]}`...), nil
	}
	type refusal struct {
		Index  int    `json:"index"`
		Reason string `json:"reason"`
	}
	out := struct {
		Accepted int       `json:"accepted"`
		Refused  []refusal `json:"refused"`
	}{a.Accepted, make([]refusal, len(a.Refused))}
	for i, r := range a.Refused {
		out.Refused[i] = refusal(r)
	}
	return json.Marshal(out)
}

// Sort puts the refusals in the order of the message.
func (a *Answer) Sort() {
	slices.SortStableFunc(a.Refused, func(x, y Refusal) int { return cmp.Compare(x.Index, y.Index) })
}
