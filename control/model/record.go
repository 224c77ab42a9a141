package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"voltbus/control"
	"voltbus/control/repeat"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// Changes returns the records that changed since the last call of Changes or Export, sorted. If each set is
// stored over the previous ones, in one transaction and before the effects are acted upon, together they are
// the whole state.
func (m *Model) Changes() []control.Record {
	m.answers.Close()
	keys := m.step.Changes()
	list := make([]control.Record, len(keys))
	for i, key := range keys {
		list[i] = control.Record{Kind: key.Kind, Key: key.Key, Data: records{m}.write(key)}
	}
	step.Sort(list)
	return list
}

// Export returns the whole state: everything except the specs of points and observed values.
func (m *Model) Export(now control.Instant) control.State {
	m.step.Touch(step.Meta, "")
	m.reservations.TouchAll()
	m.overrides.touchAll()
	for _, t := range m.targets {
		if t.output != nil {
			t.output.touch()
		}
	}
	m.approvals.touchAll()
	m.answers.TouchAll()
	list := slices.DeleteFunc(m.Changes(), func(r control.Record) bool { return r.Data == nil })
	return control.State{Version: control.Version, Time: now.Wall.UTC(), Records: list}
}

// records encodes the state of a model.
type records struct{ *Model }

// write encodes a record; nil if its object no longer exists.
func (m records) write(key step.Key) (data json.RawMessage) {
	var err error
	switch key.Kind {
	case step.Meta:
		data, err = json.Marshal(m.step.Counters())
	case step.Task:
		data, err = m.reservations.Record(key.Key)
	case step.Override:
		data, err = m.overrides.record(point.Pattern(key.Key))
	case step.Point:
		if t := m.targets[point.Path(key.Key)]; t != nil && t.output != nil {
			s := t.output.record()
			data = s.JSON()
		}
	case step.Proposal:
		data, err = m.approvals.record(key.Key)
	case step.Answers:
		data, err = m.answers.Record(key.Key)
	}
	if err != nil {
		panic(fmt.Sprintf("control: a record of plain fields cannot be written: %v", err)) // no field can fail
	}
	return data
}

// Import loads a state into a model whose points are declared and that has not decided anything. What was due
// meanwhile happens at once; points that were being written are read first. Commands of points that are no
// longer declared end, as events report. If the state is damaged, the error is Corrupt and the model must not
// be used.
func (m *Model) Import(now control.Instant, s control.State) (control.Effects, error) {
	const op = "control.Import"
	switch {
	case s.Version != control.Version:
		return control.Effects{}, fault.E(op, fault.Corrupt, "", fmt.Errorf(
			"the state has version %d, and this program knows %d; use the program that wrote it, or begin anew", s.Version, control.Version))
	case m.step.Counters().Order > 0 || m.answers.Len() > 0:
		return control.Effects{}, fault.E(op, fault.Conflict, "", errors.New("the model is in use already; import into a new one"))
	}
	m.step.Now = now
	list, rest := slices.Clone(s.Records), records{m}
	step.Sort(list)
	var answers repeat.AnswerSet
	for i := range list {
		if list[i].Data == nil {
			continue
		}
		if err := rest.restore(&list[i], &answers); err != nil {
			return control.Effects{}, fault.E(op, fault.Corrupt, list[i].Kind+" "+list[i].Key, fmt.Errorf(
				"the record cannot be read: %w; restore a copy, or remove it", err))
		}
	}
	m.answers.Restore(&answers)
	rest.resume()
	return m.step.Take(), nil
}

// restore loads one record.
func (m records) restore(r *control.Record, answers *repeat.AnswerSet) error {
	switch r.Kind {
	case step.Meta:
		var c step.Counters
		err := json.Unmarshal(r.Data, &c)
		m.step.SetCounters(c)
		return err
	case step.Task:
		return m.reservations.Restore(r.Key, r.Data)
	case step.Override:
		return m.overrides.restore(point.Pattern(r.Key), r.Data)
	case step.Point:
		return m.point(point.Path(r.Key), r.Data)
	case step.Proposal:
		return m.approvals.restore(r.Data)
	case step.Answers:
		return answers.Add(r)
	case step.Answer:
		m.step.Touch(step.Answer, r.Key) // it is removed once its sheet is stored
		return answers.Add(r)
	}
	return fmt.Errorf("%q is no kind of record", r.Kind)
}

// resume starts what was restored.
func (m records) resume() {
	m.reservations.Resume()
	for _, c := range m.Held("") {
		if c.Task != "" && !m.reservations.Has(c.Task) { // it had ended when the state was written
			m.endAll(m.selected(c.Requester, control.Selection{Command: c.Command}), control.CauseTask)
		}
	}
	m.step.Enter(m.step.Now)
	for _, t := range m.matching("") {
		if t.output != nil {
			t.output.feedback.resume()
			t.output.follow(control.CauseRetry)
		}
	}
}
