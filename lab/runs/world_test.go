package runs

import (
	"reflect"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/operation/lab"
)

var small = lab.WorldOrder{Units: 30, Nodes: 3, Hours: 3, Period: 2, Seed: 1}

// begun returns a world whose outside time stands still.
func begun(t *testing.T, o lab.WorldOrder) (*worlds, *time.Time) {
	t.Helper()
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	w := &worlds{now: func() time.Time { return now }}
	if _, err := w.StartWorld(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return w, &now
}

func must(t *testing.T) func(lab.WorldState, error) lab.WorldState {
	return func(s lab.WorldState, err error) lab.WorldState {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestTheTimeOfAWorldPassesAtItsPace(t *testing.T) {
	o := small
	o.Pace = 10
	w, now := begun(t, o)
	get := must(t)
	at := func(s lab.WorldState) time.Duration { return s.Time.Sub(s.Begin) }
	*now = now.Add(3 * time.Second)
	if s := get(w.World(t.Context())); at(s) != 30*time.Second {
		t.Errorf("after 3 s at the pace 10: %s", at(s))
	}
	get(w.Pace(t.Context(), 0))
	*now = now.Add(time.Hour)
	if s := get(w.World(t.Context())); at(s) != 30*time.Second || s.Pace != 0 {
		t.Errorf("after an hour of pause: %s", at(s))
	}
	s := get(w.Step(t.Context(), time.Minute))
	if at(s) != 90*time.Second || len(s.Course) != 9 || len(s.Stack) != 30 || len(s.Waits) == 0 || s.Waits[0].At.Before(s.Time) {
		t.Errorf("after a step: %s, %d moments, %d units, waits for %v", at(s), len(s.Course), len(s.Stack), s.Waits)
	}
}

func TestAKilledLeaderIsFollowedInTheWorld(t *testing.T) {
	w, _ := begun(t, small)
	get := must(t)
	before := get(w.Step(t.Context(), 5*time.Minute))
	killed := get(w.KillLeader(t.Context()))
	if killed.Ways[0].Leader != "" || killed.Ways[1].Leader != "" || killed.Ways[1].Members != 2 || killed.Ways[2].Members != 2 {
		t.Errorf("after the kill: %+v", killed.Ways)
	}
	after := get(w.Step(t.Context(), 50*time.Second))
	if l := after.Ways[1]; l.Leader == "" || l.Leader == before.Ways[1].Leader || l.Term <= before.Ways[1].Term {
		t.Errorf("%+v is followed by %+v", before.Ways[1], l)
	}
	back := get(w.Step(t.Context(), 3*time.Minute))
	if back.Ways[0].Leader != "master" || back.Ways[1].Leader != before.Ways[1].Leader || back.Ways[1].Members != 3 {
		t.Errorf("three minutes later: %+v", back.Ways)
	}
}

func TestTheSameWorldScoresTheSame(t *testing.T) {
	run := func() lab.WorldState {
		w, _ := begun(t, small)
		get := must(t)
		get(w.Lose(t.Context(), 0.05))
		get(w.Step(t.Context(), time.Hour))
		get(w.KillLeader(t.Context()))
		get(w.Step(t.Context(), time.Hour))
		return get(w.Step(t.Context(), 2*time.Hour))
	}
	first, second := run(), run()
	if !reflect.DeepEqual(first, second) {
		t.Error("two runs with one seed differ")
	}
	if !first.Over || first.Loss != 0.05 {
		t.Errorf("three hours later it is not over: %s", first.Time)
	}
	for _, way := range first.Ways {
		if way.Composite == nil || *way.Composite < 0.5 || way.Precision == nil || way.Comfort > 0.1 || way.Messages == 0 {
			t.Errorf("%+v", way)
		}
	}
}

func TestWithoutAWorldThereIsNoneToChange(t *testing.T) {
	w := &worlds{}
	if _, err := w.KillLeader(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if err := w.StopWorld(t.Context()); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	o := small
	o.Nodes = 31
	if _, err := w.StartWorld(t.Context(), o); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
