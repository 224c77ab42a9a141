package metertest

import (
	"fmt"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

func event(id string, at time.Time, kind meter.EventKind) store.Event {
	return store.Event{Event: meter.Event{Meter: id, At: at, Kind: kind, Severity: kind.Severity()}, Who: "concentrator:c1"}
}

// tell appends events.
func (f *fixture) tell(list ...store.Event) store.EventResult {
	f.t.Helper()
	f.clock = f.clock.Add(time.Minute)
	return must[store.EventResult](f.t)(f.AppendEvents(f.t.Context(), &store.EventBatch{Events: list}))
}

// told returns the numbers of events.
func (f *fixture) told(q store.EventQuery) (numbers []uint64) {
	f.t.Helper()
	for _, e := range must[[]store.Event](f.t)(f.Events(f.t.Context(), q)) {
		numbers = append(numbers, e.Number)
	}
	return numbers
}

func testEvents(t *testing.T, f *fixture) {
	f.have("m1")
	noon := f.at(28, 12, 0)
	first := event("m1", noon.Add(1500*time.Microsecond), meter.LastGasp)
	first.Code, first.Detail = meter.EventCode{3, 26, 0, 85}, "phase 'a'; <b>"
	r := f.tell(first, event("stranger", noon.Add(time.Second), meter.Tamper))
	if r.Stored != 2 || r.Repeated != 0 || !r.Recorded.Equal(f.clock) {
		t.Errorf("got %+v", r)
	}
	f.tell(event("m1", noon.Add(time.Hour), meter.Restoration), event("m1", noon.Add(-time.Hour), meter.VoltageLow), event("m2", noon.Add(time.Second), meter.LastGasp))
	first.At, first.Number, first.Recorded = noon.Add(time.Millisecond).UTC(), 1, r.Recorded
	equal(t, "the first", must[[]store.Event](t)(f.Events(t.Context(), store.EventQuery{To: noon.Add(time.Millisecond), Limit: 1})), []store.Event{first})
	for _, tt := range []struct {
		what string
		q    store.EventQuery
		want []uint64
	}{
		{"all", store.EventQuery{}, []uint64{3, 5, 2, 1, 4}},
		{"of a meter", store.EventQuery{Meter: "m1"}, []uint64{3, 1, 4}},
		{"of a meter that is not registered", store.EventQuery{Meter: "stranger"}, []uint64{2}},
		{"of nobody", store.EventQuery{Meter: "m' OR 1=1"}, nil},
		{"of kinds", store.EventQuery{Kinds: []meter.EventKind{meter.LastGasp, meter.Restoration}}, []uint64{3, 5, 1}},
		{"of a time", store.EventQuery{From: noon, To: noon.Add(time.Second)}, []uint64{5, 2, 1}},
		{"after an event", store.EventQuery{From: noon.Add(time.Second)}, []uint64{3}},
		{"a page", store.EventQuery{After: 5, Limit: 2}, []uint64{2, 1}},
		{"a page of a meter behind the event of another", store.EventQuery{Meter: "m1", After: 2}, []uint64{1, 4}},
	} {
		equal(t, tt.what, f.told(tt.q), tt.want)
	}
	_, err := f.Events(t.Context(), store.EventQuery{After: 6})
	f.wants(err, fault.NotFound)
}

func testEventTwice(t *testing.T, f *fixture) {
	noon := f.at(28, 12, 0)
	later := event("m1", noon.Add(time.Minute), meter.Restoration)
	if r := f.tell(later, event("m1", noon, meter.LastGasp), later); r.Stored != 2 || r.Repeated != 1 {
		t.Errorf("twice in a batch: %+v", r)
	}
	other := later
	other.Code, other.Detail, other.Who = meter.EventCode{3, 26, 0, 216}, "x", "y"
	again := later
	again.Detail, again.Who, again.Severity = "said otherwise", "concentrator:c2", meter.Critical
	if r := f.tell(event("m1", noon.Add(400*time.Microsecond), meter.LastGasp), again, other, event("m2", noon, meter.LastGasp)); r.Stored != 2 || r.Repeated != 2 {
		t.Errorf("in another batch: %+v", r)
	}
	equal(t, "stored", f.told(store.EventQuery{}), []uint64{3, 1, 4, 2})
	const many = 5000
	var list []store.Event
	for i := range many {
		list = append(list, event(fmt.Sprintf("s%d", i), noon, meter.LastGasp))
	}
	for _, want := range []int{many, 0} {
		if r := f.tell(list...); r.Stored != want {
			t.Errorf("a storm: %d stored, want %d", r.Stored, want)
		}
	}
}

func testEventCursor(t *testing.T, f *fixture) {
	must[store.Result](t)(f.Append(t.Context(), &store.Batch{Log: "L", Sequence: 99}))
	for i, b := range []*store.EventBatch{{}, {Log: "L", Sequence: 7, Events: []store.Event{event("m1", f.clock, meter.Tamper)}}, {}, {Log: "L", Sequence: 9}} {
		must[store.EventResult](t)(f.AppendEvents(t.Context(), b))
		log, sequence, err := f.EventCursor(t.Context())
		if want := []uint64{0, 7, 7, 9}[i]; err != nil || sequence != want || (log == "L") != (want > 0) {
			t.Errorf("after batch %d: %q %d %v", i, log, sequence, err)
		}
	}
	if _, sequence, err := f.Cursor(t.Context()); err != nil || sequence != 99 {
		t.Errorf("the place of readings is %d, %v; want 99", sequence, err)
	}
	if !f.engine.Durable {
		return
	}
	before := f.told(store.EventQuery{})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	f.Store = f.engine.Open(t, f.dir, f.zone, func() time.Time { return f.clock })
	equal(t, "after it was opened again", f.told(store.EventQuery{}), before)
	if _, sequence, err := f.EventCursor(t.Context()); err != nil || sequence != 9 {
		t.Errorf("the place after it was opened again is %d, %v; want 9", sequence, err)
	}
	if r := f.tell(event("m1", f.clock.Add(-time.Minute), meter.Tamper), event("m1", f.clock, meter.Connected)); r.Stored != 2 {
		t.Errorf("after it was opened again: %+v", r)
	}
	equal(t, "numbers go on", f.told(store.EventQuery{Kinds: []meter.EventKind{meter.Connected}}), []uint64{3})
}
