package model

import (
	"encoding/json"
	"fmt"
	"testing"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// ledger is what a journal holds: records stored one over the other.
type ledger map[step.Key]control.Record

func (l ledger) keep(records []control.Record) {
	for _, r := range records {
		if l[step.Key{Kind: r.Kind, Key: r.Key}] = r; r.Data == nil {
			delete(l, step.Key{Kind: r.Kind, Key: r.Key})
		}
	}
}

func (l ledger) of(kind string) []control.Record {
	var list []control.Record
	for key, r := range l {
		if key.Kind == kind {
			list = append(list, r)
		}
	}
	return list
}

// restarted returns a model with what was kept.
func (l ledger) restarted(t *testing.T, answers int) *Model {
	t.Helper()
	m := modelOfP(t, answers)
	s := control.State{Version: control.Version}
	for _, r := range l {
		s.Records = append(s.Records, r)
	}
	if _, err := m.Import(after(0), s); err != nil {
		t.Fatal(err)
	}
	return m
}

func modelOfP(t *testing.T, answers int) *Model {
	t.Helper()
	m := New(control.Limits{Answers: answers})
	if _, err := m.Declare(after(0), []control.Spec{{Point: "p", Writable: true}}); err != nil {
		t.Fatal(err)
	}
	return m
}

// set commands p with an identifier, and reports whether it is a repeat.
func set(m *Model, id int) bool {
	return m.Command(after(0), control.Command{ID: fmt.Sprint(id), Point: "p", Requester: "ann", Level: 8, Value: point.IntOf(1)}).Repeat
}

func mustRepeat(t *testing.T, m *Model, from, to int) {
	t.Helper()
	for id := from; id < to; id++ {
		if !set(m, id) {
			t.Errorf("the answer to %d is forgotten", id)
		}
	}
}

func TestAnswersOfOneTurnAreOneRecord(t *testing.T) {
	m, kept := modelOfP(t, 10_000), ledger{}
	for id := range 600 {
		set(m, id)
	}
	kept.keep(m.Changes())
	if n := len(kept.of(step.Answers)); n != 3 { // of 256 at most
		t.Errorf("600 answers are %d records, want 3", n)
	}
	set(m, 600)
	kept.keep(m.Changes())
	if n := len(kept.of(step.Answers)); n != 4 {
		t.Errorf("with one of another turn there are %d records, want 4: what was kept is not written again", n)
	}
	mustRepeat(t, kept.restarted(t, 10_000), 0, 601)
}

func TestForgottenAnswersLeaveNoRecordsAndStayForgottenAfterARestart(t *testing.T) {
	m, kept := modelOfP(t, 10), ledger{}
	for id := range 100 {
		set(m, id)
		if id%7 == 6 {
			kept.keep(m.Changes())
		}
	}
	kept.keep(m.Changes())
	if n := len(kept.of(step.Answers)); n > 3 {
		t.Errorf("10 answers of turns with 7 are on %d records", n)
	}
	m = kept.restarted(t, 10)
	mustRepeat(t, m, 90, 100)
	if set(m, 89) {
		t.Error("an answer that was forgotten is there again")
	}
	// Those that are newer than the restart are the last to be forgotten after the next one.
	for id := 100; id < 108; id++ {
		set(m, id)
	}
	kept.keep(m.Changes())
	mustRepeat(t, kept.restarted(t, 10), 100, 108)
}

func TestADecisionThatWasForgottenAndMadeAnewIsTheNewOne(t *testing.T) {
	m, kept := modelOfP(t, 4), ledger{}
	for _, id := range []int{1, 2, 3, 4, 5, 1} { // 1 stands on two sheets
		set(m, id)
		if id == 4 || id == 1 {
			kept.keep(m.Changes())
		}
	}
	if n := m.answers.Len(); n != 4 {
		t.Fatalf("%d are known", n)
	}
	m = kept.restarted(t, 4)
	for _, id := range []int{3, 4, 5, 1} {
		if !set(m, id) {
			t.Errorf("the answer to %d is forgotten", id)
		}
	}
}

func TestAnswersOfAnOlderProgramArePutOnSheets(t *testing.T) {
	kept := ledger{}
	for id := range 5 {
		key := step.Join(control.Ref{Requester: "ann", ID: fmt.Sprint(id)})
		data, err := json.Marshal(map[string]any{
			"requester": "ann", "id": fmt.Sprint(id), "order": uint64(1000 + id), "status": control.Accepted,
			"mark": (&control.Command{Point: "p", Value: point.IntOf(1), Level: 8}).Mark(),
		})
		if err != nil {
			t.Fatal(err)
		}
		kept.keep([]control.Record{{Kind: step.Answer, Key: key, Data: data}})
	}
	m := kept.restarted(t, 10)
	kept.keep(m.Changes())
	if one, all := len(kept.of(step.Answer)), len(kept.of(step.Answers)); one != 0 || all != 1 {
		t.Errorf("there are %d records of one answer and %d of several, want 0 and 1", one, all)
	}
	mustRepeat(t, m, 0, 5)
	set(m, 5)
	kept.keep(m.Changes())
	mustRepeat(t, kept.restarted(t, 10), 0, 6)
}
