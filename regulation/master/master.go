// Package master regulates a fleet of units centrally: it takes reports, and each period decides which units change. It is a state machine:
// whoever runs it hands it messages and the time, and sends the orders that it returns.
package master

import (
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/regulation"
	"voltbus/regulation/stack"
)

// Config of a master.
type Config struct {
	Capacity float64       // kW that the signal 1 asks for
	Stale    time.Duration // a unit that has been silent for longer is not ordered; 0: 5 minutes
	Wait     time.Duration // an order without an answer after this is taken for lost; 0: 4 seconds
}

// Status is what the last decision knew. Powers are in kW.
type Status struct {
	At       time.Time `json:"at"`
	Signal   float64   `json:"signal"`
	Baseline float64   `json:"baseline"` // without regulation: what holds the temperatures
	Target   float64   `json:"target"`
	Power    float64   `json:"power"`    // before the decision, by the reports
	Expected float64   `json:"expected"` // after it
	Capacity float64   `json:"capacity"`
	More     float64   `json:"more"` // by how much consumption could still rise
	Less     float64   `json:"less"` // and fall
	Units    int       `json:"units"`
	Silent   int       `json:"silent"` // of them, those without a report for too long
	Orders   int       `json:"orders"`
	// Refused counts the refusals since the decision before, by their codes.
	Refused map[string]int `json:"refused,omitempty"`
}

// Master is the state. It is for one goroutine.
type Master struct {
	c       Config
	token   regulation.Token
	number  uint64
	index   map[string]int
	last    int                 // place of the unit that was found last
	units   []regulation.Report // as they are, or as they will be after the orders that are under way
	told    []regulation.Report // as reported
	known   []known
	view    []regulation.Report // of the units, for a decision
	stack   stack.Stack
	refused map[string]int
}

// known is what the master knows of a unit beside its state.
type known struct {
	at      time.Time // of the last report
	pending uint64    // number of the order under way; 0: none
	asked   time.Time
	barred  time.Time // until then it is not ordered, because it refused
}

// New returns a master without units.
func New(c Config) *Master {
	if c.Stale <= 0 {
		c.Stale = 5 * time.Minute
	}
	if c.Wait <= 0 {
		c.Wait = 4 * time.Second
	}
	return &Master{c: c, index: map[string]int{}, refused: map[string]int{}}
}

// SetCapacity changes the power that the signal 1 asks for, kW.
func (m *Master) SetCapacity(kw float64) { m.c.Capacity = kw }

// SetToken says in whose name the orders are from now on.
func (m *Master) SetToken(t regulation.Token) { m.token = t }

// Hear takes a report. It reports whether the unit is new and has been registered by it. A report older than the last one is dropped. What
// Report.Check finds is a fault.Invalid.
func (m *Master) Hear(r *regulation.Report) (registered bool, err error) {
	i, ok := m.find(r.Unit)
	if ok && r.At.Before(m.known[i].at) {
		return false, nil
	}
	if err := r.Check(); err != nil {
		return false, fault.E("master.Hear", fault.Invalid, r.Unit, err)
	}
	if !ok {
		m.last = len(m.units)
		m.index[r.Unit] = m.last
		m.units, m.told, m.known = append(m.units, *r), append(m.told, *r), append(m.known, known{at: r.At})
		return true, nil
	}
	m.told[i], m.known[i].at = *r, r.At
	if m.known[i].pending == 0 {
		m.units[i] = *r
	}
	return false, nil
}

// find returns the place of a unit. The one after the last is tried first: a node reports its units in the same order each time.
func (m *Master) find(unit string) (int, bool) {
	if next := m.last + 1; next < len(m.units) && m.units[next].Unit == unit {
		m.last = next
		return next, true
	}
	i, ok := m.index[unit]
	if ok {
		m.last = i
	}
	return i, ok
}

// Answered takes the answer to an order. One to an order that was taken for lost, or came twice, only counts as a report.
func (m *Master) Answered(now time.Time, a *regulation.Answer) {
	i, ok := m.index[a.Report.Unit]
	if !ok {
		return
	}
	k := &m.known[i]
	if a.Code != regulation.NoSuchUnit { // such an answer has no state
		_, _ = m.Hear(&a.Report) // a wrong state does not make the answer void
	}
	if k.pending == 0 || k.pending != a.Number {
		return
	}
	k.pending = 0
	wanted := m.units[i]
	m.units[i] = m.told[i]
	why := a.Code.String()
	if a.Code == regulation.Done {
		if follows(&wanted, &m.told[i]) {
			return
		}
		why = Unchanged
	}
	m.refused[why]++
	k.barred = now.Add(max(a.Report.Free, m.c.Stale/10))
}

// Unchanged is counted among the refusals of a Status: an answer says done, and the state with it is not the one that was ordered.
const Unchanged = "unchanged"

// clipped is by how much the speed of a fan may differ from the one that was ordered.
const clipped = 0.02

func follows(wanted, is *regulation.Report) bool {
	if wanted.Variable {
		return math.Abs(wanted.Speed-is.Speed) <= clipped
	}
	return wanted.On == is.On
}

// Reports returns what the units said last, in the order of their registration.
func (m *Master) Reports() []regulation.Report {
	return slices.Clone(m.told)
}

// Decide returns the orders that bring the power of the units to the baseline minus signal × capacity, and what it knew. The signal is between
// −1 and +1; positive: consume less.
func (m *Master) Decide(now time.Time, signal float64) ([]regulation.Order, Status) {
	st := Status{At: now, Signal: signal, Capacity: m.c.Capacity, Units: len(m.units)}
	if len(m.refused) > 0 {
		st.Refused, m.refused = m.refused, map[string]int{}
	}
	m.view = slices.Grow(m.view[:0], len(m.units))[:len(m.units)]
	stale := now.Add(-m.c.Stale)
	for i := range m.view {
		u := &m.view[i]
		m.see(now, i, u)
		if m.known[i].at.Before(stale) {
			st.Silent++
			u.Free, u.Power = 1, u.Hold // nobody knows better
		}
		st.Baseline += u.Hold
		st.Power += u.Power
	}
	st.Target = st.Baseline - signal*m.c.Capacity
	d := m.stack.Decide(m.view, st.Target)
	st.Expected, st.More, st.Less, st.Orders = d.Expected, d.More, d.Less, len(d.Changes)
	orders := make([]regulation.Order, 0, len(d.Changes))
	for _, c := range d.Changes {
		orders = append(orders, m.order(now, c))
	}
	return orders, st
}

// see writes a unit as a decision has it: one that refused or has an order under way does not change.
func (m *Master) see(now time.Time, i int, u *regulation.Report) {
	k := &m.known[i]
	if k.pending != 0 && now.Sub(k.asked) >= m.c.Wait {
		k.pending = 0
		m.units[i] = m.told[i]
	}
	*u = m.units[i]
	if u.Free > 0 {
		u.Free = max(0, u.Free-max(0, now.Sub(k.at))) // the clock of a unit may be ahead
	}
	if !k.barred.IsZero() {
		u.Free = max(u.Free, k.barred.Sub(now))
	}
	if k.pending != 0 {
		u.Free = max(u.Free, 1)
	}
}

// order makes the order of a change, and expects that it is carried out.
func (m *Master) order(now time.Time, c stack.Change) regulation.Order {
	m.number++
	u, k := &m.units[c.Unit], &m.known[c.Unit]
	k.pending, k.asked = m.number, now
	u.On, u.Speed = c.On, c.Speed
	switch {
	case u.Variable:
		u.Power = u.Rated * c.Speed * c.Speed * c.Speed
	case c.On:
		u.Power = u.Rated
	default:
		u.Power = 0
	}
	return regulation.Order{Unit: u.Unit, Number: m.number, Token: m.token, On: c.On, Speed: c.Speed}
}
