package application

import (
	"slices"
	"time"

	"voltbus/broker/setting"
)

// What becomes of requests, beside what control says.
const (
	refused = "refused"
	failed  = "failed"
)

// State is how an application is.
type State struct {
	Name      string
	Status    []string // patterns
	Published uint64   // readings
	// Requests since the start, by what became of them; what the broker refused to its clients is among the refused.
	Accepted, Refused, Failed uint64
	Orders                    []OrderState
	Events                    []Event // the last ones, newest first
}

// OrderState is how one command of an application is.
type OrderState struct {
	setting.Order

	Accepted, Refused, Failed uint64
	Last                      *Event
}

// Event is what became of a request, or of something else that a client tried.
type Event struct {
	Time   time.Time
	Topic  string
	Value  *float64
	Status string // accepted, pending, released, refused or failed
	Why    string
}

const mostEvents = 50

// remember keeps an event; the oldest makes room.
func (s *State) remember(e Event) {
	if len(s.Events) >= mostEvents {
		s.Events = s.Events[1:]
	}
	s.Events = append(s.Events, e)
}

func (s *OrderState) last(now time.Time, value *float64, status, why string) {
	s.Last = &Event{Time: now, Value: value, Status: status, Why: why}
}

// States lists the applications as configured.
func (g *Gate) States() []State {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]State, 0, len(g.apps))
	for _, s := range g.cfg.Applications {
		a := g.apps[s.Name]
		one := a.state
		one.Name, one.Status = s.Name, s.Status
		one.Events = slices.Clone(a.state.Events)
		slices.Reverse(one.Events)
		for _, name := range a.names {
			o := a.orders[name].state
			o.Order = a.orders[name].Order
			one.Orders = append(one.Orders, o)
		}
		list = append(list, one)
	}
	return list
}
