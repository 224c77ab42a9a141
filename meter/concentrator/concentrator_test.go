package concentrator_test

import (
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/concentrator"
)

var noon = time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC)

func TestABulkGoesWhenItIsFullOrOld(t *testing.T) {
	g := concentrator.NewGatherer(2, time.Second)
	if _, open := g.Due(); open || g.Take() != nil {
		t.Error("nothing is due")
	}
	if b := g.Add(&meter.Reading{Meter: "a"}, noon, concentrator.Place{Sequence: 1, Readings: 1}); b != nil {
		t.Errorf("one of two: %+v", b)
	}
	if at, open := g.Due(); !open || !at.Equal(noon.Add(time.Second)) {
		t.Errorf("due at %v, %v", at, open)
	}
	b := g.Add(&meter.Reading{Meter: "b"}, noon.Add(time.Minute), concentrator.Place{Sequence: 2, Readings: 1})
	if b == nil || len(b.Readings) != 2 || b.End != (concentrator.Place{Sequence: 2, Readings: 1}) || !b.Oldest.Equal(noon) {
		t.Errorf("two of two: %+v", b)
	}
	if _, open := g.Due(); open || g.Extend(concentrator.After(2), nil) {
		t.Error("what was taken is still there")
	}
}

func TestThePlaceMovesOnlyOverWhatWasAnswered(t *testing.T) {
	p := concentrator.NewProgress(concentrator.After(10), concentrator.Counts{Sent: 5}, map[string]uint64{"n#": 5})
	bulk := func(sequence uint64) *concentrator.Bulk {
		return &concentrator.Bulk{Oldest: noon, End: concentrator.After(sequence), Passed: []concentrator.Passed{{Origin: "n#", Samples: sequence, Lost: 1}}}
	}
	first, second := p.Begin(bulk(11)), p.Begin(bulk(12))
	p.Skip(concentrator.After(20), nil)
	p.Done(second, concentrator.Counts{Sent: 1})
	if at, counts := p.Place(); at != concentrator.After(10) || counts.Sent != 5 || counts.Lost != 0 {
		t.Errorf("before the first is answered: %+v, %+v", at, counts)
	}
	if !p.Oldest().Equal(noon) {
		t.Error("nothing is under way")
	}
	p.Done(first, concentrator.Counts{Refused: 1})
	at, counts := p.Place()
	if at != concentrator.After(20) || counts != (concentrator.Counts{Sent: 6, Refused: 1, Lost: 2}) || p.Ends()["n#"] != 12 || !p.Oldest().IsZero() {
		t.Errorf("in the end: %+v, %+v, %v", at, counts, p.Ends())
	}
	if next, skip := at.Next(); next != 21 || skip != 0 {
		t.Errorf("next is %d, %d", next, skip)
	}
	if next, skip := (concentrator.Place{Sequence: 7, Readings: 3}).Next(); next != 7 || skip != 3 {
		t.Errorf("within a block: %d, %d", next, skip)
	}
}

func TestSystemsTakeTurnsAndThoseThatFailPause(t *testing.T) {
	s := concentrator.NewTargets(3)
	pick := func(at time.Time, want int, wantTrial bool, wantWait time.Duration) {
		t.Helper()
		if got, trial, wait := s.Pick(at); got != want || trial != wantTrial || wait != wantWait {
			t.Errorf("picked %d, %v, %v; want %d, %v, %v", got, trial, wait, want, wantTrial, wantWait)
		}
	}
	pick(noon, 0, false, 0)
	pick(noon, 1, false, 0)
	if !s.Failed(1, noon, "away", 0) || s.Failed(1, noon, "away", 0) {
		t.Error("only the first failure is new")
	}
	pick(noon, 2, false, 0)
	pick(noon, 0, false, 0)
	pick(noon, 2, false, 0)
	later := noon.Add(time.Second)
	pick(later, 1, true, 0)
	pick(later, 2, false, 0) // one bulk tries it, not all
	s.Failed(0, later, "away", 0)
	s.Failed(1, later, "busy", time.Minute)
	s.Failed(2, later, "away", 0)
	pick(later, -1, false, 250*time.Millisecond)
	s.Retry(2)
	pick(later, 2, false, 0)
	s.Failed(2, later, "away", 0)
	if !s.Answered(0) || s.Answered(0) {
		t.Error("only the first answer is new")
	}
	pick(later.Add(time.Hour-time.Minute), 1, true, 0)
}
