package alarm

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Shown is an alarm as operators see it.
type Shown struct {
	Alarm

	State State
	Now   string // the value of the point now; "" if it is not known
	// Unjudged is why it is not known whether the condition holds; "" if it is known. The alarm stays as it was.
	Unjudged string
}

// List returns the alarms that are not idle: those that are open first, of these the most urgent, of these the newest.
func (e *Engine) List() []Shown {
	list := make([]Shown, 0, len(e.live))
	for _, a := range e.live {
		s := Shown{Alarm: *a, State: a.State()}
		if i := e.find(a.ID); i != nil {
			s.Now, s.Unjudged = i.value(), i.unjudged(e.now)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Shown) int {
		return cmp.Or(cmp.Compare(a.State.Order(), b.State.Order()), cmp.Compare(b.Priority.Rank(), a.Priority.Rank()), b.Since.Compare(a.Since), strings.Compare(string(a.ID), string(b.ID)))
	})
	return list
}

// Told reports whether operators are told of alarms of a state.
func (s State) Told() bool {
	switch s {
	case Normal, Shelved, Suppressed, OutOfService:
		return false
	case Unacknowledged, Acknowledged, Returned, LatchedUnacknowledged, LatchedAcknowledged:
	}
	return true
}

// Order is the place of alarms of a state in a list: those that need an operator come first.
func (s State) Order() int {
	switch s {
	case Unacknowledged:
		return 0
	case Acknowledged, LatchedUnacknowledged:
		return 1
	case Returned, LatchedAcknowledged:
		return 2
	case Normal, Shelved, Suppressed, OutOfService:
	}
	return 3
}

// Get returns an alarm; false if it is idle or there is none.
func (e *Engine) Get(id ID) (Shown, bool) {
	a := e.live[id]
	if a == nil {
		return Shown{}, false
	}
	s := Shown{Alarm: *a, State: a.State()}
	if i := e.find(id); i != nil {
		s.Now, s.Unjudged = i.value(), i.unjudged(e.now)
	}
	return s, true
}

// Bounds of a flood (ISA-18.2, 16.5.3; IEC 62682): it begins with more than ten new alarms within ten minutes, and ends with fewer than five.
const (
	floodWindow = 10 * int64(time.Minute/time.Microsecond)
	floodBegin  = 10
	floodEnd    = 5
)

// flood counts the alarms of the last ten minutes.
type flood struct {
	times []int64
	since int64
}

func (f *flood) trim(now int64) {
	gone := 0
	for gone < len(f.times) && f.times[gone] <= now-floodWindow {
		gone++
	}
	f.times = append(f.times[:0], f.times[gone:]...)
	if len(f.times) < floodEnd {
		f.since = 0
	}
}

func (f *flood) add(now int64) {
	if len(f.times) > 0 && f.times[0] <= now-floodWindow {
		f.trim(now)
	}
	f.times = append(f.times, now)
	if f.since == 0 && len(f.times) > floodBegin {
		f.since = now
	}
}

// Flood returns since when more alarms come than an operator can attend to, zero for no flood, and how many came in the last ten minutes.
func (e *states) Flood() (since time.Time, count int) {
	e.flood.trim(e.now)
	if e.flood.since != 0 {
		since = moment(e.flood.since)
	}
	return since, len(e.flood.times)
}
