package metertest

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func testRegister(t *testing.T, f *fixture) {
	other := smart(t, "m1")
	other.Channels = other.Channels[:1]
	bad := smart(t, "a/b")
	r := must[store.Registered](t)(f.Register(t.Context(), []store.Registration{{Meter: smart(t, "m1")}, {Meter: smart(t, "m2")}, {Meter: smart(t, "m1")}, {Meter: other}, {Meter: bad}}))
	if r.Added != 2 || r.Known != 1 || len(r.Refused) != 2 || r.Refused[0].Index != 3 || r.Refused[1].Index != 4 {
		t.Errorf("got %+v", r)
	}
	r = must[store.Registered](t)(f.Register(t.Context(), []store.Registration{{Meter: smart(t, "m2")}, {Meter: smart(t, "m3")}}))
	if r.Added != 1 || r.Known != 1 {
		t.Errorf("the second time: %+v", r)
	}
	equal(t, "meter", must[meter.Meter](t)(f.Meter(t.Context(), "m3")), smart(t, "m3"))
	_, err := f.Meter(t.Context(), "m4")
	f.wants(err, fault.NotFound)
	page := must[[]meter.Meter](t)(f.Meters(t.Context(), "m1", 1))
	if len(page) != 1 || page[0].ID != "m2" {
		t.Errorf("behind m1: %v", page)
	}
	equal(t, "known channels", f.Knows(nil, []store.ChannelKey{{Meter: "m1", Channel: 2}, {Meter: "m1", Channel: 3}, {Meter: "m9", Channel: 1}}), []bool{true, false, false})
	equal(t, "known meters", []bool{f.KnowsMeter("m2"), f.KnowsMeter("m9"), f.KnowsMeter("")}, []bool{true, false, false})
	if n, ok := f.ChannelOf("m2", reading(t, register)); !ok || n != 2 {
		t.Errorf("the channel of the register is %d, %v", n, ok)
	}
}

func testExchange(t *testing.T, f *fixture) {
	from, at := f.at(1, 0, 0), f.at(20, 10, 30)
	r := must[store.Registered](t)(f.Register(t.Context(), []store.Registration{
		{Meter: smart(t, "old"), ServicePoint: "sp1", Premises: "p1", From: from},
		{Meter: smart(t, "new")},
		{Meter: smart(t, "third"), ServicePoint: "sp1", From: from},
		{Meter: smart(t, "fourth"), ServicePoint: "sp2"},
	}))
	if r.Added != 2 || len(r.Refused) != 2 {
		t.Fatalf("got %+v", r)
	}
	if err := f.Exchange(t.Context(), "sp1", "new", at); err != nil {
		t.Fatal(err)
	}
	f.wants(f.Exchange(t.Context(), "sp1", "unknown", at), fault.NotFound)
	f.wants(f.Exchange(t.Context(), "sp1", "new", at), fault.Conflict)
	f.wants(f.Exchange(t.Context(), "sp9", "old", at), fault.Conflict)
	equal(t, "installations", must[[]meter.Installation](t)(f.Installations(t.Context(), "sp1")), []meter.Installation{
		{Meter: "old", ServicePoint: "sp1", From: from.UTC(), To: at.UTC()}, {Meter: "new", ServicePoint: "sp1", From: at.UTC()},
	})
	for day, want := range map[int]uint64{19: 96, 20: 192, 21: 96} { // the new one is expected from its installation on
		m := must[store.Missing](t)(f.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, day)}))
		if m.Expected != want {
			t.Errorf("%d March: %d intervals are expected, want %d", day, m.Expected, want)
		}
	}
}

func testReadings(t *testing.T, f *fixture) {
	f.have("m1")
	r := f.put("m1", f.at(28, 0, 15), 0.25, 0.5)
	if r.Stored != 2 || !r.Recorded.Equal(f.clock) {
		t.Errorf("got %+v", r)
	}
	who := meter.Origin{Who: "concentrator:c1"}
	equal(t, "versions", f.versions("m1", 1), []meter.Version{
		{End: f.at(28, 0, 15).UTC(), Recorded: f.clock, Value: 0.25, Origin: who}, {End: f.at(28, 0, 30).UTC(), Recorded: f.clock, Value: 0.5, Origin: who},
	})
	_, err := f.History(t.Context(), store.ChannelKey{Meter: "m1", Channel: 7}, f.at(1, 0, 0), f.at(2, 0, 0))
	f.wants(err, fault.NotFound)
	h := must[*meter.History](t)(f.History(t.Context(), store.ChannelKey{Meter: "m1", Channel: 1}, f.at(28, 0, 15), f.at(28, 0, 30)))
	if h.Len() != 1 {
		t.Errorf("%d readings end after the first and not after the second, want 1", h.Len())
	}
}

func testTwice(t *testing.T, f *fixture) {
	f.have("m1")
	f.put("m1", f.at(28, 0, 15), 1, 2, 2)
	f.put("m1", f.at(28, 0, 15), 1, 2)
	if n := len(f.versions("m1", 1)); n != 3 {
		t.Errorf("%d versions, want 3", n)
	}
}

func testContradiction(t *testing.T, f *fixture) {
	f.have("m1")
	first := f.put("m1", f.at(28, 0, 15), 1)
	second := f.put("m1", f.at(28, 0, 15), 9)
	third := f.put("m1", f.at(28, 0, 15), 1)
	equal(t, "before", f.known("m1", first.Recorded.Add(-time.Second)), []float64(nil))
	equal(t, "then", f.known("m1", first.Recorded), []float64{1})
	equal(t, "later", f.known("m1", second.Recorded), []float64{9})
	equal(t, "now", f.known("m1", third.Recorded), []float64{1})
}

func testTimes(t *testing.T, f *fixture) {
	f.have("m1")
	ends := []time.Time{
		time.Unix(0, 0), time.Date(1970, 1, 1, 0, 15, 0, 0, time.UTC), time.Date(1901, 5, 5, 5, 5, 5, 0, time.UTC), f.clock.AddDate(80, 0, 0),
		f.at(28, 24, 0), f.at(29, 1, 45), f.at(29, 2, 0), f.at(29, 3, 15), f.at(29, 3, 16),
		time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC), time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC), // the same local time twice
	}
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"x"}}
	want := map[string]float64{}
	for i, e := range ends {
		b.Add(e.UnixMicro(), float64(i))
		want[e.UTC().Format(time.RFC3339)] = float64(i)
	}
	must[store.Result](t)(f.Append(t.Context(), b))
	got := map[string]float64{}
	for _, v := range f.versions("m1", 1) {
		got[v.End.Format(time.RFC3339)] = v.Value
	}
	equal(t, "values by end", got, want)
}

// testManyDays has one batch reach more days than an engine writes at a time.
func testManyDays(t *testing.T, f *fixture) {
	f.have("m1")
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"x"}}
	const days = 200
	for round := range 2 {
		for i := range days {
			b.Add(f.at(1, 0, 15+15*round).AddDate(0, 0, -i).UnixMicro(), float64(i))
		}
	}
	must[store.Result](t)(f.Append(t.Context(), b))
	if n := len(f.versions("m1", 1)); n != 2*days {
		t.Errorf("%d versions, want %d", n, 2*days)
	}
}

func testRegisters(t *testing.T, f *fixture) {
	f.have("m1")
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 2}}, Senders: []string{"x"}}
	b.Add(f.at(28, 7, 3).Add(1234567*time.Microsecond).UnixMicro(), 100.5)
	must[store.Result](t)(f.Append(t.Context(), b))
	v := f.versions("m1", 2)
	if len(v) != 1 || !v[0].End.Equal(f.at(28, 7, 3).Add(1234*time.Millisecond)) || v[0].Value != 100.5 {
		t.Errorf("got %v", v)
	}
}

func testNumbers(t *testing.T, f *fixture) {
	f.have("m1")
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"x"}}
	for i, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64} {
		b.Add(f.at(28, i+1, 0).UnixMicro(), v)
	}
	r := must[store.Result](t)(f.Append(t.Context(), b))
	if r.Left != 3 || r.Stored != 3 || len(f.versions("m1", 1)) != 3 {
		t.Errorf("got %+v, %v", r, f.versions("m1", 1))
	}
}

func testStrays(t *testing.T, f *fixture) {
	r := f.put("late", f.at(28, 0, 15), 1, 2, 3)
	if r.Strays != 3 || r.Stored != 0 {
		t.Errorf("got %+v", r)
	}
	below := &store.Batch{Keys: []store.ChannelKey{{Meter: "never", Channel: 1}}, Senders: []string{store.NodeSender("plant.1#") + "/token:x"}}
	below.Add(f.at(28, 0, 15).UnixMicro(), 1)
	must[store.Result](t)(f.Append(t.Context(), below))
	waiting := func(origin string) (of, all uint64) { return f.Waiting(func(o string) bool { return o == origin }) }
	if of, all := waiting("plant.1#"); of != 1 || all != 4 {
		t.Errorf("%d of a descendant wait, %d of all; want 1 and 4", of, all)
	}
	if s := must[store.Stats](t)(f.Stats(t.Context())); s.Strays != 4 {
		t.Errorf("%d readings wait, want 4", s.Strays)
	}
	f.clock = f.clock.Add(time.Hour)
	if got := must[store.Registered](t)(f.Register(t.Context(), []store.Registration{{Meter: smart(t, "late")}})); got.Adopted != 3 {
		t.Errorf("registered: %+v", got)
	}
	equal(t, "as known when they came", f.known("late", r.Recorded), []float64{1, 2, 3})
	if of, all := waiting(""); of != 0 || all != 1 {
		t.Errorf("%d of this node and %d of all wait still, want 0 and 1", of, all)
	}
}

func testCursor(t *testing.T, f *fixture) {
	f.have("m1")
	for i, b := range []*store.Batch{{}, {Log: "L", Sequence: 7}, {}} {
		must[store.Result](t)(f.Append(t.Context(), b))
		log, sequence, err := f.Cursor(t.Context())
		if want := []uint64{0, 7, 7}[i]; err != nil || sequence != want || (log == "L") != (want == 7) {
			t.Errorf("after batch %d: %q %d %v", i, log, sequence, err)
		}
	}
}

func testBatch(t *testing.T, f *fixture) {
	f.have("m1")
	_, err := f.Append(t.Context(), &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"x"}, Key: []uint32{1}, Sender: []uint32{0}, End: []int64{1}, Value: []float64{1}})
	f.wants(err, fault.Invalid)
	_, err = f.Append(t.Context(), &store.Batch{Key: []uint32{1}})
	f.wants(err, fault.Invalid)
}

// testMissingMeanwhile asks for days while their first readings are written.
func testMissingMeanwhile(t *testing.T, f *fixture) {
	f.have("m1")
	const days = 60
	written := make(chan struct{})
	var asking sync.WaitGroup
	for range 3 {
		asking.Go(func() {
			for {
				for d := range store.Day(days) {
					if _, err := f.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, 27) + d, Limit: 1}); err != nil {
						t.Errorf("day %d: %v", d, err)
						return
					}
				}
				select {
				case <-written:
					return
				default:
				}
			}
		})
	}
	for d := range days {
		f.put("m1", f.at(27+d, 0, 15), 1)
	}
	close(written)
	asking.Wait()
}

func testMissing(t *testing.T, f *fixture) {
	var ids []string
	for i := range 5 {
		ids = append(ids, fmt.Sprintf("m%d", i))
	}
	f.have(ids...)
	whole := make([]float64, 96)
	for _, id := range ids[1:] {
		f.put(id, f.at(27, 0, 15), whole...)
	}
	whole[10], whole[95] = math.NaN(), math.NaN()
	f.put("m0", f.at(27, 0, 15), whole...)
	f.put("m0", f.at(27, 0, 15), 5)                 // twice
	f.put("m0", f.at(27, 2, 46), 5)                 // at no end of an interval
	for _, id := range []string{"m1", "m2", "m3"} { // of the next day three begin
		f.put(id, f.at(28, 0, 15), 1)
	}
	ask := func(q store.MissingQuery) store.Missing { return must[store.Missing](t)(f.Missing(t.Context(), q)) }
	day := store.DayOf(2026, 3, 27)
	equal(t, "27 March", ask(store.MissingQuery{Day: day, Limit: 10}), store.Missing{
		Expected: 480, Received: 478, Channels: 1,
		List: []store.MissingChannel{{ChannelKey: store.ChannelKey{Meter: "m0", Channel: 1}, First: f.at(27, 2, 45).UTC(), Count: 2, Ends: []time.Time{f.at(27, 2, 45).UTC(), f.at(28, 0, 0).UTC()}}},
	})
	equal(t, "27 March in brief", ask(store.MissingQuery{Day: day, Limit: 10, Brief: true}), store.Missing{
		Expected: 480, Received: 478, Channels: 1, List: []store.MissingChannel{{ChannelKey: store.ChannelKey{Meter: "m0", Channel: 1}, First: f.at(27, 2, 45).UTC(), Count: 2}},
	})
	page := ask(store.MissingQuery{Day: day + 1, Limit: 2, After: "m0"})
	if page.Channels != 5 || page.Received != 3 || len(page.List) != 2 || page.List[0].Meter != "m1" || len(page.List[0].Ends) != 95 || !page.More {
		t.Errorf("a page of 28 March: %d channels, %d received, %d listed, more %v", page.Channels, page.Received, len(page.List), page.More)
	}
	page = ask(store.MissingQuery{Day: day + 1, Limit: 10, After: "m2"})
	if len(page.List) != 2 || page.List[1].Meter != "m4" || page.More {
		t.Errorf("the last page: %d listed, more %v", len(page.List), page.More)
	}
	f.many("long", 3, time.Second) // 86,400 intervals a day each
	page = ask(store.MissingQuery{Day: day + 1, Limit: 10, After: "m4"})
	if len(page.List) != 3 || page.More {
		t.Errorf("a page of a meter: %d listed, more %v", len(page.List), page.More)
	}
	f.many("next", 1, time.Second)
	page = ask(store.MissingQuery{Day: day + 1, Limit: 10, After: "m4"})
	if len(page.List) != 3 || !page.More {
		t.Errorf("a page of many intervals: %d listed, more %v; it ends with the meter that fills it", len(page.List), page.More)
	}
	page = ask(store.MissingQuery{Day: day + 1, Limit: 10, After: "m4", Brief: true})
	if len(page.List) != 4 || page.More || page.List[0].Count != 86_400 || page.List[0].Ends != nil {
		t.Errorf("a page in brief: %d listed, more %v; it has no intervals that fill it", len(page.List), page.More)
	}
	page = ask(store.MissingQuery{Day: day + 1, Limit: 2, After: "m4"})
	if len(page.List) != 3 || !page.More {
		t.Errorf("a page that ends within a meter: %d listed, more %v", len(page.List), page.More)
	}
	_, err := f.Missing(t.Context(), store.MissingQuery{Day: day, After: "nobody"})
	f.wants(err, fault.NotFound)
}

func testMissingClockChange(t *testing.T, f *fixture) {
	f.have("m1")
	for day, want := range map[store.Day]uint64{store.DayOf(2026, 3, 28): 96, store.DayOf(2026, 3, 29): 92, store.DayOf(2026, 10, 25): 100} {
		if m := must[store.Missing](t)(f.Missing(t.Context(), store.MissingQuery{Day: day})); m.Expected != want || m.Received != 0 {
			t.Errorf("%v: %d of %d received, want 0 of %d", day, m.Received, m.Expected, want)
		}
	}
}
