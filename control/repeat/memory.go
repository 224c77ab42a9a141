// Package repeat remembers recent decisions, so that a repeated request gets the first answer.
package repeat

import (
	"errors"
	"fmt"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
)

// Memory holds the remembered decisions. It is used by one goroutine at a time.
type Memory struct {
	step  *step.Step
	known map[control.Ref]*answer
	ring  []control.Ref // in the order of the decisions
	next  int           // the next position in ring
	order uint64
	// sheets hold what is stored together, one record each. The last one is open for more until it is stored.
	sheets map[string]*sheet
	open   *sheet
}

type answer struct {
	order    uint64 // of the decision
	mark     uint64 // of the request
	decision control.Decision
	sheet    *sheet
}

// sheet holds answers given together. One record for all of them costs a fraction of one for each.
type sheet struct {
	key  string
	refs []control.Ref
	left int // answers not yet forgotten
}

// maxSheet bounds a sheet, since a changed answer rewrites all of it.
const maxSheet = 256

// New returns a memory of Limits.Answers decisions.
func New(s *step.Step) *Memory {
	return &Memory{step: s, known: make(map[control.Ref]*answer), sheets: make(map[string]*sheet)}
}

// Len returns the number of remembered decisions.
func (m *Memory) Len() int { return len(m.known) }

// Once decides a request unless it was decided before; the mark tells whether it is the same request.
// Requests without an identifier are not remembered.
func (m *Memory) Once(r control.Ref, mark uint64, decide func() control.Decision) control.Decision {
	if r.ID == "" || r.Requester == "" {
		return decide()
	}
	if known := m.known[r]; known != nil {
		if known.mark != mark {
			return control.Refuse("once", control.WhyReused, fault.Conflict, r.ID, errors.New("this identifier stands for another request; make a new one for each"))
		}
		d := known.decision
		d.Repeat = true
		return d
	}
	d := decide()
	if most := m.step.Limits.Text; len(r.ID) > most || len(r.Requester) > most {
		return d
	}
	m.remember(r, mark, d)
	return d
}

// Replace changes the answer to repeats.
func (m *Memory) Replace(r control.Ref, d control.Decision) {
	known := m.known[r]
	if known == nil {
		return
	}
	d.Effects = control.Effects{}
	known.decision = d
	m.step.Touch(step.Answers, known.sheet.key)
}

// remember puts a decision without its effects on a sheet.
func (m *Memory) remember(r control.Ref, mark uint64, d control.Decision) {
	m.order++
	if m.open == nil || len(m.open.refs) >= maxSheet {
		m.open = m.sheet(fmt.Sprintf("%016x", m.order)) // so that sheets sort by age
	}
	d.Effects = control.Effects{}
	on := m.open.key
	m.add(r, &answer{order: m.order, mark: mark, decision: d, sheet: m.open})
	m.step.Touch(step.Answers, on)
}

// sheet returns the sheet with a key, which is created if absent.
func (m *Memory) sheet(key string) *sheet {
	s := m.sheets[key]
	if s == nil {
		s = &sheet{key: key}
		m.sheets[key] = s
	}
	return s
}

// add puts an answer on its sheet, and forgets the oldest if there is no more room.
func (m *Memory) add(r control.Ref, one *answer) {
	one.sheet.refs = append(one.sheet.refs, r)
	one.sheet.left++
	if len(m.ring) < m.step.Limits.Answers {
		m.ring = append(m.ring, r)
	} else {
		m.forget(m.ring[m.next])
		m.ring[m.next] = r
		m.next = (m.next + 1) % len(m.ring)
	}
	m.known[r] = one
}

// forget removes an answer, and its sheet if that is then empty.
func (m *Memory) forget(r control.Ref) {
	s := m.known[r].sheet
	delete(m.known, r)
	if s.left--; s.left > 0 {
		return
	}
	delete(m.sheets, s.key)
	if m.open == s {
		m.open = nil
	}
	m.step.Touch(step.Answers, s.key)
}
