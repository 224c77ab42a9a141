package validation_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/memory"
	"voltbus/meter/validation"
	"voltbus/meter/vee"
)

// bench is a store with a meter of a load profile and a register, and its validator.
type bench struct {
	*memory.Store
	t        *testing.T
	zone     *time.Location
	clock    time.Time
	document string // "" for none
	v        *validation.Validator
}

func start(t *testing.T, rules vee.Rules) *bench {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, zone: zone, clock: time.Date(2026, 4, 1, 6, 0, 0, 0, time.UTC)}
	b.Store = memory.New(memory.Options{Zone: zone, Now: func() time.Time { return b.clock }})
	b.v, err = validation.New(validation.Config{Rules: rules, Now: func() time.Time { return b.clock }, Document: func(context.Context) (json.RawMessage, int, error) {
		switch b.document {
		case "":
			return nil, 0, fault.E("test", fault.NotFound, "rules", errors.New("none"))
		case "broken":
			return nil, 1, fault.E("test", fault.Invalid, "rules", errors.New("refers to nothing"))
		}
		return json.RawMessage(b.document), 4, nil
	}}, b.Store, zone)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"m1", "m2"} {
		profile, _ := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
		register, _ := meter.ParseReadingType("0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
		r, err := b.Register(t.Context(), []store.Registration{{From: b.at(29, 0, 0).AddDate(0, -2, 0), Meter: meter.Meter{ID: id, Commodity: meter.Electricity, Channels: []meter.Channel{
			{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}, {Number: 2, ReadingType: register, Multiplier: 1},
		}}}})
		if err != nil || r.Added != 1 {
			t.Fatal(r, err)
		}
	}
	return b
}

func (b *bench) at(day, hour, minute int) time.Time {
	return time.Date(2026, 3, day, hour, minute, 0, 0, b.zone)
}

// put appends the intervals of a day from one on; NaN leaves one out.
func (b *bench) put(id string, day, from int, values ...float64) {
	b.t.Helper()
	batch := &store.Batch{Keys: []store.ChannelKey{{Meter: id, Channel: 1}}, Senders: []string{"c"}}
	for i, v := range values {
		if !math.IsNaN(v) {
			batch.Add(b.at(day, 0, 0).Add(time.Duration(from+i+1)*15*time.Minute).UnixMicro(), v)
		}
	}
	b.append(batch)
}

func (b *bench) read(id string, at time.Time, value float64) {
	b.t.Helper()
	batch := &store.Batch{Keys: []store.ChannelKey{{Meter: id, Channel: 2}}, Senders: []string{"c"}}
	batch.Add(at.UnixMicro(), value)
	b.append(batch)
}

func (b *bench) append(batch *store.Batch) {
	b.t.Helper()
	b.clock = b.clock.Add(time.Second)
	if _, err := b.Append(b.t.Context(), batch); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) validate(day int) store.Judgement {
	b.t.Helper()
	b.clock = b.clock.Add(time.Second)
	j, err := b.v.Validate(b.t.Context(), store.DayOf(2026, 3, day))
	if err != nil {
		b.t.Fatal(err)
	}
	return j
}

func (b *bench) pass() {
	b.t.Helper()
	b.clock = b.clock.Add(time.Second)
	if err := b.v.Pass(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// now returns what counts of the intervals of a day of a meter.
func (b *bench) now(id string, day int) []meter.Version {
	b.t.Helper()
	from, to := b.at(day, 0, 0), b.at(day+1, 0, 0)
	h, err := b.History(b.t.Context(), store.ChannelKey{Meter: id, Channel: 1}, from, to)
	if err != nil {
		b.t.Fatal(err)
	}
	return h.AsKnown(nil, from, to, b.clock.Add(time.Hour))
}

func day(n int, v func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v(i)
	}
	return out
}

func flat(v float64) []float64 { return day(96, func(int) float64 { return v }) }

// lack returns values without some of them.
func lack(values []float64, from, to int) []float64 {
	values = slices.Clone(values)
	for i := from; i < to; i++ {
		values[i] = math.NaN()
	}
	return values
}

// rulesOf returns the rules of the estimates among versions.
func rulesOf(list []meter.Version) map[string]int {
	out := map[string]int{}
	for _, v := range list {
		if v.Stage == meter.Estimated {
			out[v.Origin.Rule]++
		}
	}
	return out
}

func TestALongGapTakesTheSameDayOfTheWeeksBeforeScaledToTheRegister(t *testing.T) {
	b := start(t, vee.Rules{})
	shape := func(i int) float64 { return 1 + float64(i%4) }
	for _, d := range []int{12, 19} {
		b.put("m1", d, 0, day(96, shape)...)
		b.validate(d)
	}
	b.put("m1", 26, 0, lack(day(96, shape), 20, 60)...)
	b.read("m1", b.at(26, 0, 0), 0)
	b.read("m1", b.at(27, 0, 0), 340) // the like day has 240
	b.validate(26)
	got := b.now("m1", 26)
	if len(got) != 96 {
		t.Fatalf("%d intervals", len(got))
	}
	sum := 0.0
	for i, v := range got {
		sum += v.Value
		if want := shape(i) * 2; i >= 20 && i < 60 && math.Abs(v.Value-want) > 1e-9 {
			t.Errorf("interval %d is %v, want %v", i, v.Value, want)
		}
	}
	if n := rulesOf(got)["like-day,scaled"]; n != 40 || math.Abs(sum-340) > 1e-6 {
		t.Errorf("%v, the day adds up to %v", rulesOf(got), sum)
	}
}

func TestALikeDayIsFoundByTheClockAcrossAClockChange(t *testing.T) {
	b := start(t, vee.Rules{})
	b.put("m1", 22, 0, day(96, func(i int) float64 { return float64(i) })...)
	b.validate(22)
	b.put("m1", 29, 0, lack(day(92, func(int) float64 { return 500 }), 40, 60)...) // an hour less: 11:00 is the 41st interval
	b.validate(29)
	if got := b.now("m1", 29); len(got) != 92 || got[40].Value != 44 || got[59].Value != 63 || got[40].Origin.Rule != "like-day" {
		t.Errorf("%d intervals, at 11:00 %v by %s", len(got), got[40].Value, got[40].Origin.Rule)
	}
}

func TestAGapOverMidnightWaitsForTheDayBehindAndIsFilledThen(t *testing.T) {
	b := start(t, vee.Rules{})
	b.put("m1", 26, 0, lack(flat(2), 94, 96)...)
	b.validate(26)
	if n := len(b.now("m1", 26)); n != 94 {
		t.Fatalf("%d intervals", n)
	}
	b.put("m1", 27, 0, lack(flat(6), 0, 1)...)
	b.pass() // the day behind
	b.pass() // and the one that waited for it
	got := append(b.now("m1", 26)[94:], b.now("m1", 27)[0])
	for i, want := range []float64{3, 4, 5} {
		if got[i].Value != want || got[i].Origin.Rule != "linear" {
			t.Errorf("%v: %v by %s, want %v", got[i].End, got[i].Value, got[i].Origin.Rule, want)
		}
	}
	list, err := b.Exceptions(t.Context(), store.ExceptionQuery{Meter: "m1"})
	if err != nil || len(list) != 0 {
		t.Errorf("exceptions %+v, %v", list, err)
	}
}

func TestALateDayCorrectsWhatWasEstimatedFromIt(t *testing.T) {
	b := start(t, vee.Rules{DemandTolerance: 20})
	b.put("m1", 19, 0, flat(3)...)
	b.validate(19)
	b.put("m1", 26, 0, lack(flat(3), 10, 40)...)
	b.validate(26)
	if got := b.now("m1", 26); got[20].Value != 3 {
		t.Fatalf("estimated %v", got[20].Value)
	}
	b.put("m1", 27, 0, flat(3)...)
	b.validate(27)
	b.put("m1", 19, 0, flat(5)...)  // the week before is corrected
	b.put("m1", 26, 93, 14, 22, 30) // and the last of the day itself
	for range 3 {
		b.pass()
	}
	if got := b.now("m1", 26); got[20].Value != 5 || got[20].Stage != meter.Estimated {
		t.Errorf("estimated %v, want 5", got[20].Value)
	}
	next := b.now("m1", 27)[0]
	if next.Stage != meter.Estimated || vee.Status(next.Status)&vee.DemandTolerance == 0 {
		t.Errorf("the step at midnight is %+v", next)
	}
}

func TestWithoutLikeDaysTheClassGivesTheShape(t *testing.T) {
	b := start(t, vee.Rules{})
	b.document = `{"rules": [{"name": "homes", "meters": ["m1"], "profile": {"working": [4,4,4,4,4,4,8,8,8,8,8,8,8,8,8,8,8,8,4,4,4,4,4,4]}}]}`
	b.put("m1", 26, 0, lack(flat(3), 20, 40)...)
	b.put("m2", 26, 0, lack(flat(3), 20, 40)...)
	j := b.validate(26)
	got := b.now("m1", 26)
	if j.Estimated != 20 || got[20].Value != 1 || got[30].Value != 2 || got[30].Origin.Rule != "profile" || got[0].Origin.Rule != "homes 4" {
		t.Errorf("%+v: at 05:00 %v, at 07:30 %v by %s", j, got[20].Value, got[30].Value, got[30].Origin.Rule)
	}
	list, err := b.Exceptions(t.Context(), store.ExceptionQuery{})
	if err != nil || len(list) != 1 || list[0].Key.Meter != "m2" || list[0].Status != uint32(vee.Gap) {
		t.Errorf("what nobody can estimate is not listed: %+v, %v", list, err)
	}
}

func TestAnEstimateThatRulesDoubtWaitsForAPerson(t *testing.T) {
	b := start(t, vee.Rules{MaxRatio: 1.5})
	b.put("m1", 25, 0, flat(2)...)
	b.validate(25)
	b.put("m1", 26, 0, lack(flat(2), 10, 11)...)
	b.read("m1", b.at(26, 0, 0), 0)
	b.read("m1", b.at(27, 0, 0), 190+50) // the one that lacks would be 50
	b.validate(26)
	got := b.now("m1", 26)[10]
	if got.Value != 50 || vee.Status(got.Status) != vee.Gap|vee.HistoricalMax {
		t.Errorf("%v is %s", got.Value, vee.Status(got.Status))
	}
	if list, err := b.Exceptions(t.Context(), store.ExceptionQuery{Meter: "m1"}); err != nil || len(list) != 1 {
		t.Errorf("exceptions %+v, %v", list, err)
	}
}

func TestRulesThatAreWrongStopNothingElse(t *testing.T) {
	b := start(t, vee.Rules{Negative: true})
	b.document = `{"rules": [{"name": "bad", "meters": ["m1"], "stuck": 1}]}`
	b.put("m1", 26, 0, append(flat(2)[:95:95], -1)...)
	b.put("m2", 26, 0, append(flat(2)[:95:95], -1)...)
	j := b.validate(26)
	if j.Channels != 2 || j.Validated != 95 {
		t.Errorf("judged %+v", j)
	}
	list, err := b.Exceptions(t.Context(), store.ExceptionQuery{Meter: "m1"})
	if err != nil || len(list) != 1 || vee.Status(list[0].Status) != vee.RuleFailed|vee.Negative {
		t.Errorf("exceptions %+v, %v", list, err)
	}
	if p := b.v.Problems(); len(p) != 1 || !strings.Contains(p[0], "bad: StuckCount: 1: write 2 or more") {
		t.Errorf("problems %q", p)
	}
	b.document = "broken"
	b.put("m2", 26, 0, 3)
	if j := b.validate(26); j.Channels != 1 {
		t.Errorf("without a document that can be read: %+v", j)
	}
	if p := b.v.Problems(); len(p) != 1 || !strings.Contains(p[0], "refers to nothing") {
		t.Errorf("problems %q", p)
	}
	b.document = ""
	b.put("m2", 26, 0, 2)
	b.validate(26)
	if p := b.v.Problems(); len(p) != 0 {
		t.Errorf("problems stay: %q", p)
	}
}

func TestReadingsOffTheGridAreOfAnotherIntervalSize(t *testing.T) {
	b := start(t, vee.Rules{})
	b.put("m1", 26, 0, flat(2)...)
	batch := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"c"}}
	batch.Add(b.at(26, 0, 5).UnixMicro(), 1)
	b.append(batch)
	if j := b.validate(26); j.Doubted != 96 {
		t.Errorf("judged %+v", j)
	}
	if got := vee.Status(b.now("m1", 26)[3].Status); got != vee.IntervalSize {
		t.Errorf("status %s", got)
	}
}

func TestOnlyDaysThatEndedAndHaveReadingsAreValidated(t *testing.T) {
	b := start(t, vee.Rules{})
	refused := func(d store.Day) {
		t.Helper()
		if j, err := b.v.Validate(t.Context(), d); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %+v, %v", d, j, err)
		}
	}
	refused(store.DayOf(2026, 3, 26)) // there is nothing yet
	b.put("m1", 26, 0, flat(2)...)
	batch := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"c"}}
	batch.Add(time.Date(9999, 12, 31, 12, 0, 0, 0, time.UTC).UnixMicro(), 1)
	b.append(batch)
	refused(store.DayOf(9999, 12, 31))
	refused(store.DayOf(2026, 4, 1)) // it has not ended
	refused(store.DayOf(1, 1, 1))
	b.pass()
	days, err := b.Days(t.Context())
	if err != nil || len(days) != 2 || !days[0].Judged || days[1].Judged {
		t.Errorf("days %+v, %v", days, err)
	}
}

// brokenDay cannot judge one day.
type brokenDay struct {
	*memory.Store
	day store.Day
}

func (s brokenDay) Judge(ctx context.Context, d store.Day, judge func(*store.ChannelDay) error) (store.Judgement, error) {
	if d == s.day {
		return store.Judgement{}, errors.New("the disk is full")
	}
	return s.Store.Judge(ctx, d, judge)
}

func TestADayThatFailsStopsNoOther(t *testing.T) {
	b := start(t, vee.Rules{})
	b.put("m1", 25, 0, flat(2)...)
	b.put("m1", 26, 0, flat(2)...)
	v, err := validation.New(validation.Config{Now: func() time.Time { return b.clock }}, brokenDay{b.Store, store.DayOf(2026, 3, 25)}, b.zone)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Pass(t.Context()); err == nil || !strings.Contains(err.Error(), "2026-03-25: the disk is full") {
		t.Errorf("the error is %v", err)
	}
	if got := b.now("m1", 26); got[0].Stage != meter.Validated {
		t.Errorf("the next day is %s", got[0].Stage)
	}
	if p := v.Problems(); len(p) != 1 || !strings.Contains(p[0], "tried again") {
		t.Errorf("problems %q", p)
	}
	if _, err := validation.New(validation.Config{Rules: vee.Rules{StuckCount: 1}}, b.Store, b.zone); err == nil {
		t.Error("rules that are wrong are accepted")
	}
}
