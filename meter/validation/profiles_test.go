package validation_test

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/bill"
	"voltbus/meter/store"
	"voltbus/meter/store/memory"
	"voltbus/meter/validation"
	"voltbus/meter/vee"
	"voltbus/testing/peers"
)

// The days of the profiles: three weeks to learn from, and a week with faults.
const (
	learned  = 21
	allDays  = 28
	perDay   = 96
	digits   = 4 // of a register
	peakKW   = 4
	fromZero = 2 // the profiles begin on a Friday; March 2026 begins on a Sunday
)

// customer is a meter with what it measured in truth, and what was done to it.
type customer struct {
	id     string
	truth  []float64 // kWh
	counts []float64 // of the register, at the begin of each day and at the end of the last
	faults map[int]string
	reset  bool
}

// customers reads load profiles.
func customers(t *testing.T) (out []*customer) {
	t.Helper()
	file, err := os.Open(peers.Profiles(t))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comma = ';'
	header, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	column := map[int]*customer{}
	for i, name := range header {
		if kind, ok := strings.CutSuffix(name, "_pload"); ok && i%3 == 0 { // a third of them, to save time
			column[i] = &customer{id: kind, faults: map[int]string{}}
			out = append(out, column[i])
		}
	}
	for n := range (fromZero + allDays) * perDay {
		record, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range column {
			v, err := strconv.ParseFloat(record[i], 64)
			if err != nil {
				t.Fatal(err)
			}
			if n >= fromZero*perDay {
				c.truth = append(c.truth, math.Round(v*peakKW/4*1000)/1000)
			}
		}
	}
	return out
}

// spoil chooses the faults of a customer; each has one of its own day.
func (c *customer) spoil(number int) {
	day := func(n int) int { return (learned + (number+n)%(allDays-learned)) * perDay }
	for i := range 4 {
		c.faults[day(0)+40+i] = "short gap"
	}
	for i := range 30 {
		c.faults[day(1)+50+i] = "long gap"
	}
	c.faults[day(2)+30] = "spike"
	c.reset = number%2 == 0
}

// register counts from where it rolls over, or begins anew, in the last week.
func (c *customer) register(number int) {
	modulus := math.Pow10(digits)
	until := 0.0
	for _, v := range c.truth[:(learned+number%5)*perDay+30] {
		until += v
	}
	count := modulus - until
	if c.reset {
		count = 17
	}
	for i, v := range c.truth {
		if i%perDay == 0 {
			c.counts = append(c.counts, math.Round(count*1000)/1000)
		}
		if c.reset && i == (learned+5)*perDay+40 {
			count = 0
		}
		if count += v; count >= modulus {
			count -= modulus
		}
	}
	c.counts = append(c.counts, math.Round(count*1000)/1000)
}

// spoiled reports whether a day has a fault.
func (c *customer) spoiled(day int) bool {
	for i := range c.faults {
		if i/perDay == day {
			return true
		}
	}
	return false
}

// sent is what the meter delivers of an interval; NaN for nothing.
func (c *customer) sent(i int) float64 {
	switch c.faults[i] {
	case "short gap", "long gap":
		return math.NaN()
	case "spike":
		return c.truth[i] + 40
	}
	return c.truth[i]
}

// deliver returns a store that has what the customers sent, validated.
func deliver(t *testing.T, all []*customer, start time.Time) *memory.Store {
	t.Helper()
	clock := start.AddDate(0, 0, allDays+1)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	st := memory.New(memory.Options{Zone: start.Location(), Now: now})
	v, err := validation.New(validation.Config{Now: now, Rules: vee.Rules{
		Negative: true, SpikeRatio: 9, SpikeFloor: 0.5, StuckCount: 96, HighRatio: 8, LowRatio: 0.05, SumTolerance: 0.5, MaxRatio: 8,
	}}, st, start.Location())
	if err != nil {
		t.Fatal(err)
	}
	profile, _ := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	register, _ := meter.ParseReadingType("0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	for n, c := range all {
		c.spoil(n)
		c.register(n)
		r, err := st.Register(t.Context(), []store.Registration{{From: start, Meter: meter.Meter{ID: c.id, Commodity: meter.Electricity, Channels: []meter.Channel{
			{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1},
			{Number: 2, ReadingType: register, Multiplier: 1, Register: meter.Register{Digits: digits, Decimals: 3}},
		}}}})
		if err != nil || r.Added != 1 {
			t.Fatal(r, err)
		}
		b := &store.Batch{Keys: []store.ChannelKey{{Meter: c.id, Channel: 1}}, Senders: []string{"c"}}
		for i := range c.truth {
			if v := c.sent(i); !math.IsNaN(v) {
				b.Add(start.Add(time.Duration(i+1)*15*time.Minute).UnixMicro(), v)
			}
		}
		b.Keys = append(b.Keys, store.ChannelKey{Meter: c.id, Channel: 2})
		for d, v := range c.counts {
			b.Add(start.AddDate(0, 0, d).UnixMicro(), v)
		}
		if _, err := st.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for d := range allDays {
		if _, err := v.Validate(t.Context(), store.DayOf(2026, 3, 1+d)); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func TestFaultsInLoadProfilesAreFoundAndTheBillIsRightAllTheSame(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	all := customers(t)
	st := deliver(t, all, start)
	injected, found := map[string]int{}, map[string]int{}
	falseAlarms, intervals := map[string]int{}, 0
	worst := 0.0
	end := start.AddDate(0, 0, allDays)
	for _, c := range all {
		h, err := st.History(t.Context(), store.ChannelKey{Meter: c.id, Channel: 1}, start, end)
		if err != nil {
			t.Fatal(err)
		}
		is := map[int]*meter.Version{}
		for _, v := range h.AsKnown(nil, start, end, end.AddDate(1, 0, 0)) {
			is[int(v.End.Sub(start)/(15*time.Minute))-1] = &v
		}
		for i := range c.truth {
			v, fault := is[i], c.faults[i]
			wrong := v != nil && v.Stage != meter.Validated
			if fault != "" {
				injected[fault]++
				if wrong && v.Stage == meter.Estimated {
					found[fault]++
				}
				continue
			}
			if c.spoiled(i / perDay) { // where a sum is wrong, all that it is of is doubted
				continue
			}
			if intervals++; wrong {
				falseAlarms[vee.Status(v.Status).String()]++
			}
		}
		worst = max(worst, billed(t, st, c, start, end))
	}
	t.Logf("%d customers, %d intervals of days without a fault", len(all), intervals)
	for _, fault := range []string{"short gap", "long gap", "spike"} {
		t.Logf("%-10s injected %5d, found and estimated %5d: %.1f %%", fault, injected[fault], found[fault], 100*float64(found[fault])/float64(injected[fault]))
		if least := map[string]float64{"short gap": 1, "long gap": 1, "spike": 0.95}[fault]; float64(found[fault]) < least*float64(injected[fault]) {
			t.Errorf("%s: %d of %d were found, want %.0f %%", fault, found[fault], injected[fault], 100*least)
		}
	}
	alarms := 0
	for status, n := range falseAlarms {
		t.Logf("false alarm %q: %d intervals, %.3f %%", status, n, 100*float64(n)/float64(intervals))
		alarms += n
	}
	if most := 0.05; float64(alarms) > most*float64(intervals) {
		t.Errorf("%d of %d intervals without a fault are doubted, want at most %.0f %%", alarms, intervals, 100*most)
	}
	t.Logf("the worst bill of four weeks differs by %.1f %% from the truth", worst)
	if worst > 3 {
		t.Errorf("a bill differs by %.1f %%, want at most 3 %%", worst)
	}
}

// billed returns by how many percent the bill of a customer differs from the truth.
func billed(t *testing.T, st *memory.Store, c *customer, start, end time.Time) float64 {
	t.Helper()
	r, err := bill.Determine(t.Context(), st, &bill.Query{Meter: c.id, Channel: 1, From: start, To: end, Known: end.AddDate(1, 0, 0), Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	want, got := 0.0, 0.0
	for _, v := range c.truth {
		want += v
	}
	for _, u := range r.Use {
		got += u.Quantity
	}
	if want == 0 {
		return 0
	}
	return 100 * math.Abs(got-want) / want
}
