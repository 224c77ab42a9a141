package metertest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
)

// testProgress compares what an engine tells of a day with what the histories of its meters say.
func testProgress(t *testing.T, f *fixture) {
	if f.engine.Progress == nil {
		t.Skip("this engine does not tell how far a day is")
	}
	engine := f.engine.Progress(f.Store)
	f.have("m1", "m2", "m3")
	f.many("hourly", 1, time.Hour)
	day := store.DayOf(2026, 3, 29) // the clock goes forward
	told := func(step string) {
		t.Helper()
		got, err := engine.Progress(t.Context(), day)
		if err != nil {
			t.Fatal(err)
		}
		want := f.progress(day, "m1", "m2", "m3", "hourly")
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%s: the engine tells\n%v\nand the histories\n%v", step, g, w)
		}
	}
	told("before readings")
	values := flawed()[:92]
	f.put("m1", f.at(29, 0, 15), values...)
	f.put("m2", f.at(29, 0, 15), values[:40]...)
	told("before validation")
	f.judge(29)
	told("after validation")
	f.clock = f.clock.Add(30 * time.Hour)
	f.put("m1", f.at(29, 1, 0), 3) // the gap
	f.put("m2", f.at(29, 4, 0), math.NaN(), 7, 8)
	told("with late readings")
	if err := f.Revise(t.Context(), store.ChannelKey{Meter: "m1", Channel: 1}, []meter.Version{{End: f.at(29, 0, 30), Value: 9, Stage: meter.Edited}}); err != nil {
		t.Fatal(err)
	}
	f.judge(29)
	told("after an edit, and validated again")
}

// progress is what the histories of channel 1 of meters say of a day.
func (f *fixture) progress(d store.Day, ids ...string) store.Progress {
	f.t.Helper()
	calendar := store.NewCalendar(f.zone)
	bounds := calendar.Bounds(d)
	out := store.Progress{Within: make([]uint64, len(store.Delays()))}
	for at := bounds.Start; at < bounds.End; at += time.Hour.Microseconds() {
		out.Hours = append(out.Hours, store.Hour{From: time.UnixMicro(at).UTC()})
	}
	for _, id := range ids {
		m := must[meter.Meter](f.t)(f.Meter(f.t.Context(), id))
		length := m.Channels[0].Interval
		h := must[*meter.History](f.t)(f.History(f.t.Context(), store.ChannelKey{Meter: id, Channel: 1}, time.UnixMicro(bounds.Start), time.UnixMicro(bounds.End)))
		for _, end := range calendar.Ends(nil, d, length) {
			hour := &out.Hours[(end-length.Microseconds()-bounds.Start)/time.Hour.Microseconds()]
			hour.Expected++
			counted(&out, hour, h, time.UnixMicro(end).UTC())
		}
	}
	return out
}

// counted counts an interval.
func counted(out *store.Progress, hour *store.Hour, h *meter.History, end time.Time) {
	before := end.Add(-time.Microsecond)
	for _, v := range h.Versions(nil, before, end) {
		if v.Stage == meter.Raw && v.Status == 0 {
			hour.Received++
			for i, limit := range store.Delays() {
				if v.Recorded.Sub(end) <= limit {
					out.Within[i]++
				}
			}
			break
		}
	}
	var counts *meter.Version
	var rules *meter.Version
	versions := h.Versions(nil, before, end)
	for i := range versions {
		if v := &versions[i]; v.Stage == meter.Edited {
			counts = v
		} else if v.Stage != meter.Raw || v.Status != 0 {
			rules = v
		}
	}
	switch {
	case counts != nil:
		hour.Edited++
	case rules == nil:
	case rules.Stage == meter.Estimated:
		hour.Estimated++
	case rules.Status != 0:
		hour.Doubted++
	default:
		hour.Validated++
	}
}
