package metertest

import (
	"errors"
	"math"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

var errBoom = errors.New("boom")

// strict doubts what is above 100, estimates what is doubted or missing by 7, and wants somebody to look at doubts.
func strict(c *store.ChannelDay) error {
	c.Rule = "strict 1"
	for i, v := range c.Values {
		switch {
		case math.IsNaN(v):
			c.Status[i], c.Estimates[i], c.Rules[i] = 1, 7, "seven"
		case v > 100:
			c.Status[i], c.Estimates[i], c.Rules[i] = 32, 7, "seven"
			c.Exception = true
		}
	}
	return nil
}

func (f *fixture) judge(day int) store.Judgement {
	f.t.Helper()
	f.clock = f.clock.Add(time.Minute)
	return must[store.Judgement](f.t)(f.Judge(f.t.Context(), store.DayOf(2026, 3, day), strict))
}

// month returns the values of 27 March with one that is missing and one that is doubted.
func flawed() []float64 {
	values := make([]float64, 96)
	for i := range values {
		values[i] = float64(i)
	}
	values[3], values[5] = math.NaN(), 500
	return values
}

func testJudge(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	raw := f.put("m1", f.at(27, 0, 15), flawed()...)
	j := f.judge(27)
	equal(t, "judgement", j, store.Judgement{Channels: 2, Validated: 94, Doubted: 1, Estimated: 98, Exceptions: 1})
	then, now := f.known("m1", raw.Recorded), f.known("m1", f.clock)
	if len(then) != 95 || then[4] != 500 {
		t.Errorf("before validation %d are known, the fifth is %v", len(then), then[4])
	}
	if len(now) != 96 || now[3] != 7 || now[5] != 7 || now[6] != 6 {
		t.Errorf("after validation %d are known: %v", len(now), now[:8])
	}
	var stages []meter.Stage
	for _, v := range f.versions("m1", 1) {
		if v.End.Equal(f.at(27, 1, 30)) {
			stages = append(stages, v.Stage)
			if v.Stage == meter.Estimated && (v.Origin.Rule != "seven" || v.Status != 32) {
				t.Errorf("the estimate is %+v", v)
			}
		}
	}
	equal(t, "versions of the doubted interval", stages, []meter.Stage{meter.Raw, meter.Raw, meter.Estimated})
	days := must[[]store.DayState](t)(f.Days(t.Context()))
	if len(days) != 1 || !days[0].Judged || days[0].Waiting != 0 {
		t.Errorf("days: %+v", days)
	}
	if j := f.judge(27); j.Channels != 0 {
		t.Errorf("judged again without need: %+v", j)
	}
	m := must[store.Missing](t)(f.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, 27), Limit: 10}))
	if m.Received != 95 || len(m.List) != 2 || len(m.List[0].Ends) != 1 {
		t.Errorf("what was estimated is still missing: %d received, %d channels", m.Received, len(m.List))
	}
}

func testLate(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.judge(27)
	estimated := f.clock
	late := f.put("m1", f.at(27, 1, 0), 3)
	f.put("m1", f.at(27, 1, 30), 5)
	days := must[[]store.DayState](t)(f.Days(t.Context()))
	if len(days) != 1 || days[0].Judged || days[0].Waiting != 2 {
		t.Errorf("days: %+v", days)
	}
	if now := f.known("m1", late.Recorded); now[3] != 7 {
		t.Errorf("before it is judged the estimate stands, not %v", now[3])
	}
	again := 0
	f.clock = f.clock.Add(time.Minute)
	j := must[store.Judgement](t)(f.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error {
		if c.Again {
			again++
		}
		if c.Values[3] != 3 || c.Values[5] != 5 || c.Values[6] != 6 || len(c.Ends) != 96 {
			t.Errorf("the values are %v", c.Values[:8])
		}
		return strict(c)
	}))
	if again != 1 || j.Channels != 1 || j.Validated != 96 {
		t.Errorf("judged %d again: %+v", again, j)
	}
	now, then := f.known("m1", f.clock), f.known("m1", estimated)
	if now[3] != 3 || now[5] != 5 || then[3] != 7 || then[5] != 7 {
		t.Errorf("now %v, then %v", now[:8], then[:8])
	}
	if list := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{})); len(list) != 0 {
		t.Errorf("the exception waits still: %v", list)
	}
	if m := must[store.Missing](t)(f.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, 27)})); m.Received != 96 {
		t.Errorf("%d received", m.Received)
	}
}

func testJudgeFails(t *testing.T, f *fixture) {
	f.have("m1")
	f.put("m1", f.at(27, 0, 15), flawed()...)
	_, err := f.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error {
		if err := strict(c); err != nil {
			return err
		}
		return errBoom
	})
	if !errors.Is(err, errBoom) {
		t.Fatalf("got %v", err)
	}
	if n := len(f.versions("m1", 1)); n != 95 {
		t.Errorf("%d versions, want the 95 raw ones", n)
	}
	if j := f.judge(27); j.Channels != 1 {
		t.Errorf("then: %+v", j)
	}
}

func testExceptions(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	for _, id := range []string{"m1", "m2"} {
		f.put(id, f.at(26, 0, 15), flawed()...)
		f.put(id, f.at(27, 0, 15), flawed()...)
	}
	f.judge(26)
	f.judge(27)
	list := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{}))
	if len(list) != 4 || list[0].Day.String() != "2026-03-27" || list[0].Key.Meter != "m1" || list[0].Status != 33 || list[0].Count != 2 || !list[0].Noticed.Equal(f.clock) {
		t.Fatalf("got %+v", list)
	}
	if of := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{Meter: "m2", Limit: 1})); len(of) != 1 || of[0].Key.Meter != "m2" {
		t.Errorf("of m2: %+v", of)
	}
	f.wants(f.Settle(t.Context(), list[0].Number, "ada", ""), fault.Invalid)
	f.wants(f.Settle(t.Context(), 99, "ada", "seen"), fault.NotFound)
	if err := f.Settle(t.Context(), list[0].Number, "ada", "holiday"); err != nil {
		t.Fatal(err)
	}
	if rest := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{})); len(rest) != 3 {
		t.Errorf("%d wait", len(rest))
	}
}

func testRevise(t *testing.T, f *fixture) {
	f.have("m1")
	key := store.ChannelKey{Meter: "m1", Channel: 1}
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.judge(27)
	before := f.clock
	f.clock = f.clock.Add(time.Minute)
	edit := meter.Version{End: f.at(27, 1, 30), Value: 4.5, Stage: meter.Edited, Origin: meter.Origin{Reason: "read on site", Who: "person:ada"}}
	if err := f.Revise(t.Context(), key, []meter.Version{edit}); err != nil {
		t.Fatal(err)
	}
	f.put("m1", f.at(27, 1, 30), 300)
	f.judge(27)
	now, then := f.known("m1", f.clock), f.known("m1", before)
	if now[5] != 4.5 || then[5] != 7 {
		t.Errorf("now %v, then %v", now[5], then[5])
	}
	edit.Stage = meter.Raw
	f.wants(f.Revise(t.Context(), key, []meter.Version{edit}), fault.Invalid)
	edit.Stage, edit.Value = meter.Edited, math.NaN()
	f.wants(f.Revise(t.Context(), key, []meter.Version{edit}), fault.Invalid)
	f.wants(f.Revise(t.Context(), store.ChannelKey{Meter: "m1", Channel: 9}, nil), fault.NotFound)
}

// testReopen compares what is there before and after.
func testReopen(t *testing.T, f *fixture) {
	if !f.engine.Durable {
		t.Skip("this engine keeps nothing")
	}
	f.have("m1", "m2")
	must[store.Registered](t)(f.Register(t.Context(), []store.Registration{{Meter: smart(t, "old"), ServicePoint: "sp", From: f.at(1, 0, 0)}, {Meter: smart(t, "new")}}))
	if err := f.Exchange(t.Context(), "sp", "new", f.at(20, 0, 0)); err != nil {
		t.Fatal(err)
	}
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.judge(27)
	f.put("m1", f.at(27, 1, 0), 3)
	f.put("m2", f.at(28, 0, 15), 3)
	f.put("stray", f.at(28, 0, 15), 3)
	must[store.Result](t)(f.Append(t.Context(), &store.Batch{Log: "L", Sequence: 9}))
	type state struct {
		Versions     [2][]meter.Version
		Meters       []meter.Meter
		Days         []store.DayState
		Exceptions   []store.Exception
		Missing      store.Missing
		Installed    []meter.Installation
		Log          string
		Sequence     uint64
		Rows, Strays uint64
	}
	look := func() (s state) {
		s.Versions = [2][]meter.Version{f.versions("m1", 1), f.versions("m2", 1)}
		s.Meters = must[[]meter.Meter](t)(f.Meters(t.Context(), "", 10))
		s.Days = must[[]store.DayState](t)(f.Days(t.Context()))
		s.Exceptions = must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{}))
		s.Missing = must[store.Missing](t)(f.Missing(t.Context(), store.MissingQuery{Day: store.DayOf(2026, 3, 27), Limit: 9}))
		s.Installed = must[[]meter.Installation](t)(f.Installations(t.Context(), "sp"))
		var err error
		if s.Log, s.Sequence, err = f.Cursor(t.Context()); err != nil {
			t.Fatal(err)
		}
		stats := must[store.Stats](t)(f.Stats(t.Context()))
		s.Rows, s.Strays = stats.Rows, stats.Strays
		return s
	}
	before := look()
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	f.Store = f.engine.Open(t, f.dir, f.zone, func() time.Time { return f.clock.Add(-time.Hour) }) // the clock went back meanwhile
	equal(t, "state", look(), before)
	if r := f.put("m1", f.at(27, 2, 0), 300); r.Recorded.Before(before.Versions[1][0].Recorded) {
		t.Errorf("recorded at %v, before what is there", r.Recorded)
	}
	if j := f.judge(27); j.Channels != 1 {
		t.Errorf("judged: %+v", j)
	}
}

func testClosed(t *testing.T, f *fixture) {
	f.have("m1")
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := f.Append(background(), &store.Batch{})
	f.wants(err, fault.Unavailable)
	_, err = f.Days(background())
	f.wants(err, fault.Unavailable)
}
