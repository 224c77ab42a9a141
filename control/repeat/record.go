package repeat

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// answerState is a remembered decision.
type answerState struct {
	Requester string           `json:"requester"`
	ID        string           `json:"id"`
	Order     uint64           `json:"order"`
	Mark      uint64           `json:"mark"`
	Status    control.Status   `json:"status"`
	Why       control.Why      `json:"why,omitempty"`
	Kind      string           `json:"kind,omitempty"`
	Subject   string           `json:"subject,omitempty"`
	Text      string           `json:"text,omitempty"`
	Holders   []control.Holder `json:"holders,omitempty"`
	Lost      []control.Holder `json:"lost,omitempty"`
	Until     time.Time        `json:"until,omitzero"`
	Later     time.Time        `json:"later,omitzero"`
	Wins      bool             `json:"wins,omitempty"`
}

func stateOf(r control.Ref, a *answer) answerState {
	d := &a.decision
	s := answerState{
		Requester: r.Requester, ID: r.ID, Order: a.order, Mark: a.mark, Status: d.Status, Why: d.Why,
		Holders: d.Holders, Lost: d.Lost, Until: d.Until, Later: d.Later, Wins: d.Wins,
	}
	if d.Err != nil {
		s.Kind, s.Subject, s.Text = d.Err.Kind.String(), d.Err.Subject, d.Err.Err.Error()
	}
	return s
}

// write encodes the answer field by field, as package json would.
func (s *answerState) write(o *point.Object) error {
	o.Begin()
	o.Text("requester", s.Requester)
	o.Text("id", s.ID)
	o.Uint("order", s.Order)
	o.Uint("mark", s.Mark)
	o.Text("status", string(s.Status))
	o.Some("why", string(s.Why))
	o.Some("kind", s.Kind)
	o.Some("subject", s.Subject)
	o.Some("text", s.Text)
	for _, list := range []struct {
		name    string
		holders []control.Holder
	}{{"holders", s.Holders}, {"lost", s.Lost}} {
		if len(list.holders) > 0 {
			data, err := json.Marshal(list.holders)
			if err != nil {
				return err
			}
			o.Name(list.name)
			o.JSON = append(o.JSON, data...)
		}
	}
	o.Moment("until", s.Until)
	o.Moment("later", s.Later)
	o.True("wins", s.Wins)
	o.End()
	return nil
}

// Close makes further answers go into new records.
func (m *Memory) Close() { m.open = nil }

// TouchAll marks every record of the memory as changed.
func (m *Memory) TouchAll() {
	for key := range m.sheets {
		m.step.Touch(step.Answers, key)
	}
}

// Record encodes the answers given together; nil if all of them are forgotten.
func (m *Memory) Record(key string) ([]byte, error) {
	s := m.sheets[key]
	if s == nil {
		return nil, nil
	}
	o := &point.Object{JSON: make([]byte, 0, 256*s.left)}
	for _, r := range s.refs {
		known := m.known[r]
		if known == nil || known.sheet != s {
			continue
		}
		o.JSON = append(o.JSON, "[,"[min(len(o.JSON), 1)])
		one := stateOf(r, known)
		if err := one.write(o); err != nil {
			return nil, err
		}
	}
	return append(o.JSON, ']'), nil
}

// AnswerSet collects the answers of records, for Restore.
type AnswerSet struct{ list []keptAnswer }

// keptAnswer is an answer, and the sheet in which it was stored; "" if it was stored alone.
type keptAnswer struct {
	answerState
	sheet string
}

// Add adds a record: answers given together, or a single one as written by earlier programs.
func (k *AnswerSet) Add(r *control.Record) error {
	if r.Kind == step.Answer {
		var one answerState
		err := json.Unmarshal(r.Data, &one)
		k.list = append(k.list, keptAnswer{one, ""})
		return err
	}
	var list []answerState
	err := json.Unmarshal(r.Data, &list)
	for i := range list {
		k.list = append(k.list, keptAnswer{list[i], r.Key})
	}
	return err
}

// Restore restores the remembered decisions, in their order. A sheet may contain some that were forgotten
// long ago: those are older than all others.
func (m *Memory) Restore(k *AnswerSet) {
	slices.SortStableFunc(k.list, func(a, b keptAnswer) int { return cmp.Compare(a.Order, b.Order) })
	last := make(map[control.Ref]int, len(k.list))
	for i := range k.list {
		last[control.Ref{Requester: k.list[i].Requester, ID: k.list[i].ID}] = i
	}
	for i := range k.list {
		s := &k.list[i]
		if r := (control.Ref{Requester: s.Requester, ID: s.ID}); last[r] == i {
			m.restore(r, s)
		}
	}
	m.open = nil
}

func (m *Memory) restore(r control.Ref, s *keptAnswer) {
	d := control.Decision{Status: s.Status, Why: s.Why, Holders: s.Holders, Lost: s.Lost, Until: s.Until, Later: s.Later, Wins: s.Wins}
	if s.Kind != "" {
		kind, _ := fault.ParseKind(s.Kind)
		d.Err = fault.E("control.once", kind, s.Subject, errors.New(s.Text))
	}
	if s.sheet == "" {
		m.order = max(m.order, s.Order-min(s.Order, 1))
		m.remember(r, s.Mark, d)
		return
	}
	m.order = max(m.order, s.Order)
	m.add(r, &answer{order: s.Order, mark: s.Mark, decision: d, sheet: m.sheet(s.sheet)})
}
