package gate_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

func eventGate(j *journal, start gate.Position) *gate.Events {
	return gate.NewEvents(gate.EventConfig{
		Origin: "n#!", Start: start, Known: func(id string) bool { return strings.HasPrefix(id, "m") }, Forward: j.forward,
		Bounds: point.Bounds{Ahead: time.Hour}, Now: midday,
	})
}

func midday() time.Time { return time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC) }

// events returns all events of the log, and checks that the blocks are numbered without gaps.
func (j *journal) events(t *testing.T, start gate.Position) []store.Event {
	t.Helper()
	var d wire.Decoder
	var out store.EventBatch
	for _, data := range j.blocks {
		var b point.Block
		if err := d.DecodeBlock(data, &b); err != nil {
			t.Fatal(err)
		}
		if origin, err := d.Origin(data); err != nil || origin != "n#!" || b.Origin != origin || b.Sequence != start.Sequence+1 || b.Before != start.Samples {
			t.Fatalf("block %d of %q and %q behind %d samples follows %+v, %v", b.Sequence, b.Origin, origin, b.Before, start, err)
		}
		start = gate.Position{Sequence: b.Sequence, Samples: b.End()}
		out.Take(&b, "n#!", midday())
	}
	return out.Events
}

func TestEventsAreTakenOrRefusedOneByOne(t *testing.T) {
	j := &journal{}
	start := gate.Position{Sequence: 7, Samples: 70}
	g := eventGate(j, start)
	e := func(id string, at time.Time, detail string) meter.Event {
		return meter.Event{Meter: id, At: at, Kind: meter.LastGasp, Severity: meter.Critical, Detail: detail}
	}
	list := []meter.Event{
		e("m1", midday(), "first"), e("stranger", midday(), ""), e("m1", midday().Add(2*time.Hour), ""), e("", midday(), ""), e("m2", time.Time{}, ""),
		e("m1", midday(), strings.Repeat("x", 257)), e("m1", midday(), "a\x00b"), e("m1", midday().Add(-time.Hour), ""), e("m2", midday(), ""),
	}
	taken, err := g.TakeEvents(t.Context(), "c1", "", list)
	if err != nil || taken.Accepted != 3 || len(taken.Refused) != 6 {
		t.Fatalf("%+v, %v", taken, err)
	}
	for i, want := range []string{"no meter is registered", "lies in the future", "meter: missing", "at: missing", "more than 256 bytes", "control character"} {
		if r := taken.Refused[i]; r.Index != i+1 || !strings.Contains(r.Reason, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
	taken, err = g.TakeEvents(t.Context(), "c2", "meters/m1", list[len(list)-2:])
	if err != nil || taken.Accepted != 1 || len(taken.Refused) != 1 || !strings.Contains(taken.Refused[0].Reason, "token") {
		t.Errorf("a token of one meter: %+v, %v", taken, err)
	}
	got := j.events(t, start)
	if len(got) != 4 || got[0].Event != list[0] || got[2].Event != list[8] || got[0].Who != "c1" || got[3].Who != "c2" {
		t.Errorf("in the log: %+v", got)
	}
	if p := g.Position(); p.Sequence != 9 || p.Samples != 70+4+2 {
		t.Errorf("position %+v", p)
	}
	j.full = true
	if _, err := g.TakeEvents(t.Context(), "c1", "", list[:1]); err == nil {
		t.Error("nothing can be written, and nobody hears of it")
	}
}

func TestAStormOfEventsKeepsItsNumbers(t *testing.T) {
	j := &journal{}
	g := eventGate(j, gate.Position{})
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			var list []meter.Event
			for range 1000 {
				list = append(list, meter.Event{Meter: "m1", At: midday(), Kind: meter.LastGasp})
			}
			if taken, err := g.TakeEvents(context.Background(), "c", "", list); err != nil || taken.Accepted != 1000 {
				t.Errorf("%+v, %v", taken, err)
			}
		})
	}
	calls.Wait()
	if got := j.events(t, gate.Position{}); len(got) != 20_000 {
		t.Errorf("%d events in the log", len(got))
	}
}
