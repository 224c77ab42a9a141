package openadr

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/regulation/signal"
)

// The payloads that courses are mostly made of.
const (
	Price     = "PRICE" // of energy, in the unit and currency that events describe
	Emissions = "GHG"   // marginal emissions of greenhouse gases, g/kWh
)

// Stretch is a value that holds from one moment to another one.
type Stretch struct {
	From, To time.Time
	Value    float64
	rank     rank
}

// rank orders events: the first one counts where two overlap.
type rank struct {
	priority int
	changed  time.Time
	event    string
}

// Course is what all events say of one payload.
type Course struct {
	Payload  string
	Unit     string // as events describe it, such as KWH; "" if they do not
	Currency string
	list     []Stretch // by their ranks
}

// NewCourse makes the course of a payload. Of events that overlap, the one with the lower number as priority counts, then the one that was
// changed last. An interval without a time of its own follows the one before it; a start in the year 1 is now. It fails with fault.Corrupt
// if an event has no times, or a value is no number.
func NewCourse(events []Event, payload string, now time.Time) (*Course, error) {
	c := &Course{Payload: payload}
	for i := range events {
		if err := c.add(&events[i], now); err != nil {
			return nil, fault.E("openadr.NewCourse", fault.Corrupt, "event "+events[i].ID, err)
		}
	}
	slices.SortStableFunc(c.list, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(a.rank.priority, b.rank.priority), b.rank.changed.Compare(a.rank.changed), cmp.Compare(a.rank.event, b.rank.event), a.From.Compare(b.From))
	})
	return c, nil
}

func (c *Course) add(e *Event, now time.Time) error {
	r := rank{priority: math.MaxInt, changed: e.Changed, event: e.ID}
	if e.Priority != nil {
		r.priority = *e.Priority
	}
	for _, d := range e.Describes {
		if d.Payload == c.Payload && c.Unit == "" {
			c.Unit, c.Currency = d.Unit, d.Currency
		}
	}
	var next time.Time
	for i := range e.Intervals {
		from, to, err := e.times(i, next, now)
		if err != nil {
			return err
		}
		next = to
		for _, p := range e.Intervals[i].Payloads {
			if p.Type != c.Payload {
				continue
			}
			value, err := p.number()
			if err != nil {
				return fmt.Errorf("interval %d: %w", e.Intervals[i].ID, err)
			}
			c.list = append(c.list, Stretch{From: from, To: to, Value: value, rank: r})
		}
	}
	return nil
}

// times returns when an interval begins and ends; next is the end of the one before it.
func (e *Event) times(i int, next, now time.Time) (from, to time.Time, err error) {
	var p Period
	switch own := e.Intervals[i].Period; {
	case own != nil:
		p = *own
		if p.Duration.Duration == 0 && e.Period != nil {
			p.Duration = e.Period.Duration
		}
	case e.Period != nil:
		p = *e.Period
		if i > 0 {
			p.Start = next
		}
	default:
		return from, to, fmt.Errorf("interval %d has no time, and the event has none", e.Intervals[i].ID)
	}
	if p.Start.Year() <= 1 {
		p.Start = now
	}
	if p.Duration.Duration < 0 {
		return from, to, fmt.Errorf("interval %d lasts %s", e.Intervals[i].ID, p.Duration)
	}
	if p.Duration.Duration == 0 {
		p.Duration.Duration = longest // without a duration a value holds until something else does
	}
	return p.Start, p.Start.Add(p.Duration.Duration), nil
}

func (p *Payload) number() (float64, error) {
	var v float64
	if len(p.Values) != 1 || json.Unmarshal(p.Values[0], &v) != nil {
		return 0, fmt.Errorf("%s has the values %s; one number is expected", p.Type, p.Values)
	}
	return v, nil
}

// At returns the value that holds at a moment, false if there is none.
func (c *Course) At(t time.Time) (float64, bool) {
	for i := range c.list {
		if s := &c.list[i]; !t.Before(s.From) && t.Before(s.To) {
			return s.Value, true
		}
	}
	return 0, false
}

// Stretches returns what the events say, the more important first where they overlap.
func (c *Course) Stretches() []Stretch { return slices.Clone(c.list) }

// Signal returns the values at equal steps; NaN where there is none.
func (c *Course) Signal(begin time.Time, length, step time.Duration) *signal.Signal {
	s := &signal.Signal{Step: step}
	for at := time.Duration(0); at < length; at += step {
		v, ok := c.At(begin.Add(at))
		if !ok {
			v = math.NaN()
		}
		s.Values = append(s.Values, v)
	}
	return s
}

// Regulate turns a signal of prices or emissions into one of regulation: low asks to consume more (−1), high to consume less (+1).
func Regulate(s *signal.Signal, low, high float64) (*signal.Signal, error) {
	if !(low < high) {
		return nil, fault.E("openadr.Regulate", fault.Invalid, "low", fmt.Errorf("%g is not below high, %g", low, high))
	}
	out := &signal.Signal{Begin: s.Begin, Step: s.Step, Values: make([]float64, len(s.Values))}
	for i, v := range s.Values {
		out.Values[i] = min(1, max(-1, 2*(v-low)/(high-low)-1)) // NaN stays NaN
	}
	return out, nil
}
