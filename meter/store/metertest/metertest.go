// Package metertest is the conformance suite of the engines of the metering store.
package metertest

import (
	"context"
	"math"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

// Engine says how a store is opened.
type Engine struct {
	// Open opens the store that lies in a directory, with a clock.
	Open func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store
	// Durable says that what was stored is there when it is opened again.
	Durable bool
	// Progress returns what tells how far the days of a store are; nil if the engine does not.
	Progress func(store.Store) store.Progressive
	// SQL returns what asks the views of a store; nil if it has none.
	SQL func(store.Store) Query
}

// Run carries out the suite.
func Run(t *testing.T, e Engine) {
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *fixture)
	}{
		{"meters are registered once, and refused with other channels", testRegister},
		{"a service point has one meter at a time, and keeps who was there", testExchange},
		{"readings come back with who sent them and when they were recorded", testReadings},
		{"a reading that comes twice is there once", testTwice},
		{"a reading that contradicts an older one is a version, and the past stays as it was known", testContradiction},
		{"readings of all times have their day, also around clock changes", testTimes},
		{"a batch may reach many days", testManyDays},
		{"registers have readings at any moment", testRegisters},
		{"values that are no numbers are left out", testNumbers},
		{"readings of unknown meters wait until they are registered", testStrays},
		{"the cursor follows the log", testCursor},
		{"a batch that does not fit together is refused", testBatch},
		{"what is missing of a day is listed in pages", testMissing},
		{"what is missing of a day that begins meanwhile", testMissingMeanwhile},
		{"missing intervals follow the length of local days", testMissingClockChange},
		{"how far a day is agrees with the histories", testProgress},
		{"validation is a version of its own, and stays as it was known", testJudge},
		{"a late reading is judged again", testLate},
		{"an error of validation stores nothing", testJudgeFails},
		{"a judging that failed midway goes on where it stood", testFailsMidway},
		{"readings are taken in while a day is judged", testBeside},
		{"a day is judged with the days around it, its register and what was usual", testAround},
		{"a day is judged with what counts of earlier days", testPast},
		{"what depends on a corrected day is judged anew", testDependants},
		{"a day that is delivered twice changes nothing", testAgain},
		{"exceptions wait until somebody settles them", testExceptions},
		{"an edit stands above rules, with who and why", testRevise},
		{"events are listed by meter, time and kind, the newest first", testEvents},
		{"an event that comes twice, in any order, is there once", testEventTwice},
		{"events have a place of their own in the log", testEventCursor},
		{"SQL views agree with the histories, the register and events", testSQL},
		{"what is stored is there after it is opened again", testReopen},
		{"a closed store refuses to work", testClosed},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, start(t, e)) })
	}
}

// fixture is a store under test.
type fixture struct {
	store.Store
	t      *testing.T
	engine Engine
	dir    string
	zone   *time.Location
	clock  time.Time
}

func start(t *testing.T, e Engine) *fixture {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, engine: e, dir: t.TempDir(), zone: zone, clock: time.Date(2026, 3, 28, 6, 0, 0, 0, time.UTC)}
	f.Store = e.Open(t, f.dir, zone, func() time.Time { return f.clock })
	t.Cleanup(func() { _ = f.Store.Close() })
	return f
}

// quarter is forward energy in kWh each 15 minutes, register the counter behind it.
const (
	quarter  = "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"
	register = "0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0"
)

func reading(t *testing.T, text string) meter.ReadingType {
	t.Helper()
	r, err := meter.ParseReadingType(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// smart returns a meter with a load profile (1) and a register (2).
func smart(t *testing.T, id string) meter.Meter {
	return meter.Meter{ID: id, Commodity: meter.Electricity, Channels: []meter.Channel{
		{Number: 1, ReadingType: reading(t, quarter), Interval: 15 * time.Minute, Multiplier: 1},
		{Number: 2, ReadingType: reading(t, register), Multiplier: 1, Register: meter.Register{Digits: 6, Decimals: 3}},
	}}
}

// must fails the test with an error.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// have registers meters.
func (f *fixture) have(ids ...string) {
	f.t.Helper()
	var list []store.Registration
	for _, id := range ids {
		list = append(list, store.Registration{Meter: smart(f.t, id)})
	}
	if r := must[store.Registered](f.t)(f.Register(f.t.Context(), list)); len(r.Refused) > 0 {
		f.t.Fatalf("refused: %v", r.Refused)
	}
}

// many registers a meter with so many channels of an interval.
func (f *fixture) many(id string, channels int, every time.Duration) {
	f.t.Helper()
	m := meter.Meter{ID: id, Commodity: meter.Electricity}
	for i := range channels {
		kind := reading(f.t, quarter)
		kind[meter.MeasuringPeriod], kind[meter.TOU] = 0, int16(i)
		m.Channels = append(m.Channels, meter.Channel{Number: i + 1, ReadingType: kind, Interval: every, Multiplier: 1})
	}
	if r := must[store.Registered](f.t)(f.Register(f.t.Context(), []store.Registration{{Meter: m}})); r.Added != 1 {
		f.t.Fatalf("registered %+v", r)
	}
}

// put appends readings of consecutive intervals of channel 1, the first of which ends at end. NaN leaves one out.
func (f *fixture) put(id string, end time.Time, values ...float64) store.Result {
	f.t.Helper()
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: id, Channel: 1}}, Senders: []string{"concentrator:c1"}}
	for i, v := range values {
		if !math.IsNaN(v) {
			b.Add(end.Add(time.Duration(i)*15*time.Minute).UnixMicro(), v)
		}
	}
	f.clock = f.clock.Add(time.Minute)
	return must[store.Result](f.t)(f.Append(f.t.Context(), b))
}

func (f *fixture) at(day, hour, minute int) time.Time {
	return time.Date(2026, 3, day, hour, minute, 0, 0, f.zone)
}

// versions returns all versions of a channel.
func (f *fixture) versions(id string, channel int) []meter.Version {
	f.t.Helper()
	h := must[*meter.History](f.t)(f.History(f.t.Context(), store.ChannelKey{Meter: id, Channel: channel}, time.Unix(-1<<33, 0), time.Unix(1<<33, 0)))
	return h.Versions(nil, time.Unix(-1<<33, 0), time.Unix(1<<33, 0))
}

// known returns the values of channel 1 as they were known at a moment.
func (f *fixture) known(id string, at time.Time) []float64 {
	f.t.Helper()
	from, to := f.at(1, 0, 0), f.at(31, 0, 0)
	h := must[*meter.History](f.t)(f.History(f.t.Context(), store.ChannelKey{Meter: id, Channel: 1}, from, to))
	var out []float64
	for _, v := range h.AsKnown(nil, from, to, at) {
		out = append(out, v.Value)
	}
	return out
}

// wants fails the test unless err is of a kind.
func (f *fixture) wants(err error, kind fault.Kind) {
	f.t.Helper()
	if !fault.Is(err, kind) {
		f.t.Fatalf("got the error %v, want one of the kind %v", err, kind)
	}
}

func background() context.Context { return context.Background() }
