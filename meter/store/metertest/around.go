package metertest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
)

// testBeside records readings while a day is judged: each is answered before the judging ends.
func testBeside(t *testing.T, f *fixture) {
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("m%02d", i))
	}
	f.have(ids...)
	for _, id := range ids {
		f.put(id, f.at(27, 0, 15), flawed()...)
	}
	f.clock = f.clock.Add(time.Minute)
	taken := 0
	j := must[store.Judgement](t)(f.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error {
		// It would never return if it waited for the judging. One is of the day that is judged, one of another.
		f.put(c.Key.Meter, f.at(27, 1, 0), 3)
		taken += f.put(c.Key.Meter, f.at(28, 0, 15), 1).Stored
		if h := must[*meter.History](t)(f.History(t.Context(), c.Key, f.at(27, 0, 0), f.at(27, 1, 0))); h.Len() < 4 {
			t.Errorf("%s: %d versions of the first hour", c.Key.Meter, h.Len())
		}
		return strict(c)
	}))
	if taken != len(ids) || j.Channels != len(ids) || j.Estimated != 2*len(ids) {
		t.Fatalf("%d readings were taken while %+v", taken, j)
	}
	days := must[[]store.DayState](t)(f.Days(t.Context()))
	if len(days) != 2 || days[0].Judged || days[0].Waiting != uint64(len(ids)) {
		t.Errorf("what came meanwhile does not wait: %+v", days)
	}
	if j := f.judge(27); j.Channels != len(ids) || j.Validated != 95*len(ids) {
		t.Errorf("then: %+v", j)
	}
	for _, id := range ids {
		if now := f.known(id, f.clock); len(now) != 97 || now[3] != 3 || now[5] != 7 || now[96] != 1 {
			t.Errorf("%s: %d are known, the fourth is %v", id, len(now), now[3])
		}
	}
}

// testFailsMidway ends a judging in its midst, and lets the next one end it.
func testFailsMidway(t *testing.T, f *fixture) {
	ids := []string{"m1", "m2", "m3", "m4"}
	f.have(ids...)
	for _, id := range ids {
		f.put(id, f.at(27, 0, 15), flawed()...)
	}
	f.clock = f.clock.Add(time.Minute)
	_, err := f.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error {
		if c.Key.Meter == "m3" {
			return errBoom
		}
		return strict(c)
	})
	if err == nil {
		t.Fatal("no error")
	}
	if f.engine.Durable { // it goes on in another process, too
		if err := f.Store.Close(); err != nil {
			t.Fatal(err)
		}
		f.Store = f.engine.Open(t, f.dir, f.zone, func() time.Time { return f.clock })
	}
	f.put("m1", f.at(27, 1, 0), 3)
	for range 2 {
		f.judge(27)
	}
	for i, id := range ids {
		now := f.known(id, f.clock)
		if want := []float64{3, 7}[min(i, 1)]; len(now) != 96 || now[3] != want || now[5] != 7 {
			t.Errorf("%s: %d are known: %v, want %v for the fourth", id, len(now), now[:min(len(now), 6)], want)
		}
		f.once(id)
	}
	if days := must[[]store.DayState](t)(f.Days(t.Context())); len(days) != 1 || !days[0].Judged {
		t.Errorf("days: %+v", days)
	}
}

// once sees that no version of a meter's load profile is there twice.
func (f *fixture) once(id string) {
	f.t.Helper()
	seen := map[string]int{}
	for _, v := range f.versions(id, 1) {
		seen[fmt.Sprint(v.End, v.Stage, v.Value, v.Status)]++
	}
	for v, n := range seen {
		if n > 1 {
			f.t.Errorf("%s: %s is there %d times", id, v, n)
		}
	}
}

// day returns the equal values of a day's quarters of an hour.
func day(v float64) []float64 {
	out := make([]float64, 96)
	for i := range out {
		out[i] = v
	}
	return out
}

// read appends reads of the register.
func (f *fixture) read(id string, at time.Time, value float64) {
	f.t.Helper()
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: id, Channel: 2}}, Senders: []string{"concentrator:c1"}}
	b.Add(at.UnixMicro(), value)
	f.clock = f.clock.Add(time.Minute)
	must[store.Result](f.t)(f.Append(f.t.Context(), b))
}

// look judges a day and returns what was shown of m1; nil if it was not judged.
func (f *fixture) look(d int, uses ...store.Day) (seen *store.ChannelDay) {
	f.t.Helper()
	f.clock = f.clock.Add(time.Minute)
	must[store.Judgement](f.t)(f.Judge(f.t.Context(), store.DayOf(2026, 3, d), func(c *store.ChannelDay) error {
		if c.Key.Meter == "m1" {
			one := *c
			one.Before, one.After, one.Advances, one.Values = slices.Clone(c.Before), slices.Clone(c.After), slices.Clone(c.Advances), slices.Clone(c.Values)
			for _, u := range uses {
				one.Status = append(one.Status[:0:0], uint32(len(c.Past(u))))
			}
			c.Uses = append(c.Uses, uses...)
			seen = &one
		}
		return strict(c)
	}))
	return seen
}

func testAround(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	for d := 5; d <= 26; d += 7 { // three like days and the one itself
		f.put("m1", f.at(d, 0, 15), day(float64(d))...)
		if d < 26 {
			f.look(d)
		}
	}
	f.put("m1", f.at(25, 0, 15), day(2)...)
	f.put("m1", f.at(25, 22, 30), 500) // doubted
	f.look(25)
	f.put("m1", f.at(27, 0, 15), 4, math.NaN(), 6)
	f.read("m1", f.at(26, 0, 0), 1000)
	f.read("m1", f.at(26, 12, 0), 1500)
	f.read("m1", f.at(26, 12, 7), 1501) // at no end of an interval
	f.read("m1", f.at(27, 0, 0), 1600)
	f.put("m1", f.at(26, 0, 7), 1) // at no end of an interval
	c := f.look(26)
	if c == nil {
		t.Fatal("not judged")
	}
	nan := math.NaN()
	equalNumbers(t, "before", c.Before, []float64{2, nan, 2, 2, 2, 2, 2, 2})
	equalNumbers(t, "after", c.After, []float64{4, nan, 6, nan, nan, nan, nan, nan})
	equal(t, "advances", c.Advances, []store.Advance{{First: 0, Last: 47, Quantity: 500}, {First: 48, Last: 95, Quantity: 100}})
	if c.UsualSum != 96*12 || c.HighestValue != 19 || c.OffGrid != 1 || c.Again {
		t.Errorf("usual sum %v, want %v; highest %v, want 19; %d off the grid, want 1; again %v", c.UsualSum, 96*12, c.HighestValue, c.OffGrid, c.Again)
	}
}

func equalNumbers(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || (a != a && b != b) }) { //nolint:gocritic // NaN equals NaN here
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func testPast(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	f.put("m1", f.at(19, 0, 15), flawed()...)
	f.judge(19)
	f.clock = f.clock.Add(time.Minute)
	key := store.ChannelKey{Meter: "m1", Channel: 1}
	if err := f.Revise(t.Context(), key, []meter.Version{{End: f.at(19, 0, 15), Value: 99, Stage: meter.Edited, Origin: meter.Origin{Who: "ada", Reason: "seen"}}}); err != nil {
		t.Fatal(err)
	}
	f.put("m1", f.at(26, 0, 15), 1)
	f.clock = f.clock.Add(time.Minute)
	asked := 0
	must[store.Judgement](t)(f.Judge(t.Context(), store.DayOf(2026, 3, 26), func(c *store.ChannelDay) error {
		if c.Key != key {
			return strict(c)
		}
		asked++
		past := c.Past(c.Day.LikeDay(1))
		if len(past) != 96 || past[0] != 99 || past[3] != 7 || past[5] != 7 || past[6] != 6 {
			t.Errorf("of 19 March %v", past[:min(len(past), 8)])
		}
		if old := c.Past(c.Day.LikeDay(2)); old != nil {
			t.Errorf("of 12 March %v", old)
		}
		return strict(c)
	}))
	if asked != 1 {
		t.Errorf("judged %d times", asked)
	}
}

// waiting returns the days that wait.
func (f *fixture) waiting() (days []string) {
	f.t.Helper()
	for _, d := range must[[]store.DayState](f.t)(f.Days(f.t.Context())) {
		if d.Waiting > 0 {
			days = append(days, d.Day.String())
		}
	}
	return days
}

// testDependants corrects a day from which others were judged.
func testDependants(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	for _, d := range []int{12, 19, 20, 26} {
		f.put("m1", f.at(d, 0, 15), day(float64(d))...)
		f.put("m2", f.at(d, 0, 15), day(float64(d))...)
		if d == 26 {
			f.look(d, store.DayOf(2026, 3, 19)) // it uses the week before
		} else {
			f.judge(d)
		}
	}
	equal(t, "days that wait", f.waiting(), []string(nil))
	f.put("m1", f.at(19, 0, 15), 50)
	equal(t, "days that wait", f.waiting(), []string{"2026-03-19"})
	f.judge(19)
	equal(t, "days that wait then", f.waiting(), []string{"2026-03-20", "2026-03-26"})
	for _, d := range []int{20, 26} {
		f.clock = f.clock.Add(time.Minute)
		var judged []string
		must[store.Judgement](t)(f.Judge(t.Context(), store.DayOf(2026, 3, d), func(c *store.ChannelDay) error {
			judged = append(judged, c.Key.Meter)
			return strict(c)
		}))
		equal(t, "judged anew", judged, []string{"m1"})
	}
	equal(t, "days that wait in the end", f.waiting(), []string(nil))
	f.read("m2", f.at(20, 0, 0), 1) // bounds the 19th and the 20th
	if j := f.judge(19); j.Channels != 1 {
		t.Errorf("by its register: %+v", j)
	}
	equal(t, "days that wait for the register", f.waiting(), []string{"2026-03-20"})
}

// testAgain delivers a day twice: nothing changes.
func testAgain(t *testing.T, f *fixture) {
	f.have("m1", "m2")
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.put("m1", f.at(28, 0, 15), 1)
	f.read("m1", f.at(28, 0, 0), 7)
	f.judge(28)
	f.judge(27)
	f.judge(28)
	type state struct {
		Versions   [2][]meter.Version
		Exceptions []store.Exception
		Waiting    []string
		Rows       uint64
	}
	look := func() state {
		return state{
			[2][]meter.Version{f.versions("m1", 1), f.versions("m1", 2)},
			must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{})), f.waiting(), must[store.Stats](t)(f.Stats(t.Context())).Rows,
		}
	}
	before := look()
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.judge(27)
	f.judge(28)
	equal(t, "state", look(), before)
	if err := f.Settle(t.Context(), before.Exceptions[0].Number, "ada", "holiday"); err != nil {
		t.Fatal(err)
	}
	f.put("m1", f.at(27, 0, 15), flawed()...)
	f.judge(27)
	if list := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{})); len(list) != len(before.Exceptions)-1 {
		t.Errorf("what was settled waits again: %+v", list)
	}
	f.put("m1", f.at(27, 3, 0), 900) // another doubt
	f.judge(27)
	if list := must[[]store.Exception](t)(f.Exceptions(t.Context(), store.ExceptionQuery{})); len(list) == 0 || list[0].Key.Meter != "m1" {
		t.Errorf("another doubt is not listed: %+v", list)
	}
}
