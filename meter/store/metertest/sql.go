package metertest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/vee"
)

// Query answers a statement: a row for each line, of the values that the engine reads.
type Query func(t *testing.T, statement string) [][]any

// testSQL compares the views with what the store answers: judged and open days, a clock change, late, contradicting, estimated and edited
// readings, registers and events.
func testSQL(t *testing.T, f *fixture) {
	if f.engine.SQL == nil {
		t.Skip("the engine has no views")
	}
	ask := f.engine.SQL(f.Store)
	f.have("m1", "m2")
	f.many("long", 2, 6*time.Hour)
	for _, id := range []string{"m1", "m2"} {
		f.put(id, f.at(27, 0, 15), flawed()...)
		f.put(id, f.at(28, 0, 15), flawed()...)
	}
	f.putLong("long", f.at(29, 6, 0), f.at(29, 12, 0), f.at(29, 18, 0), f.at(30, 0, 0))
	f.same(ask, "before validation")
	_, err := f.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error {
		if c.Key.Meter == "m2" {
			return errBoom
		}
		return strict(c)
	})
	if err == nil {
		t.Fatal("no error")
	}
	f.same(ask, "in the midst of a validation")
	f.judge(27)
	f.judge(29)
	f.same(ask, "validated")
	f.put("m1", f.at(27, 1, 0), 3) // late
	f.put("m1", f.at(27, 2, 0), 9) // contradicts
	f.put("m2", f.at(28, 12, 0), 5)
	f.clock = f.clock.Add(time.Minute)
	edit := meter.Version{End: f.at(27, 3, 0), Value: 4.5, Stage: meter.Edited, Origin: meter.Origin{Who: "person:ann", Reason: "read by hand, don't ask"}}
	if err := f.Revise(t.Context(), store.ChannelKey{Meter: "m1", Channel: 1}, []meter.Version{edit}); err != nil {
		t.Fatal(err)
	}
	f.same(ask, "late and edited")
	f.judge(27)
	f.judge(28)
	f.same(ask, "validated again")
	f.same(ask, "asked again")
	f.sameRegistry(ask)
	f.sameEvents(ask)
}

// putLong appends readings of 6 hours.
func (f *fixture) putLong(id string, ends ...time.Time) {
	f.t.Helper()
	b := &store.Batch{Keys: []store.ChannelKey{{Meter: id, Channel: 1}}, Senders: []string{"concentrator:c1"}}
	for i, end := range ends {
		b.Add(end.UnixMicro(), float64(i+1))
	}
	f.clock = f.clock.Add(time.Minute)
	must[store.Result](f.t)(f.Append(f.t.Context(), b))
}

// same compares both views of readings with the histories.
func (f *fixture) same(ask Query, when string) {
	f.t.Helper()
	const columns = `meter, channel, "end", value, stage, status, recorded, who, rule, reason FROM `
	from, to := f.at(1, 0, 0), f.at(31, 0, 0)
	var all, current []string
	for _, key := range []store.ChannelKey{{Meter: "m1", Channel: 1}, {Meter: "m2", Channel: 1}, {Meter: "long", Channel: 1}, {Meter: "long", Channel: 2}} {
		h := must[*meter.History](f.t)(f.History(f.t.Context(), key, from, to))
		for _, v := range h.Versions(nil, from, to) {
			all = append(all, lineOf(key, &v))
		}
		for _, v := range h.AsKnown(nil, from, to, f.clock.Add(time.Hour)) {
			current = append(current, lineOf(key, &v))
		}
	}
	f.equal(when+": reading_versions", ask(f.t, "SELECT "+columns+"reading_versions"), all)
	f.equal(when+": readings", ask(f.t, "SELECT "+columns+"readings"), current)
	day := ask(f.t, `SELECT count(*), count(DISTINCT day) FROM readings r WHERE r.day = '2026-03-27' AND r."end" > '2026-03-26T00:00:00'`)
	if n := strings.Count(strings.Join(current, "\n"), "@2026-03-2"); fmt.Sprint(day[0][1]) != "1" || fmt.Sprint(day[0][0]) == strconv.Itoa(n) {
		f.t.Errorf("%s: a day has %v of %d", when, day, n)
	}
}

func lineOf(key store.ChannelKey, v *meter.Version) string {
	status := ""
	if v.Status != 0 {
		status = vee.Status(v.Status).String()
	}
	return fmt.Sprintf("%s/%d @%s %g %s %q %s %s %s %s", key.Meter, key.Channel, v.End.UTC().Format(time.RFC3339), v.Value, v.Stage, status,
		v.Recorded.UTC().Format(time.RFC3339), v.Origin.Who, v.Origin.Rule, v.Origin.Reason)
}

func (f *fixture) equal(what string, rows [][]any, want []string) {
	f.t.Helper()
	got := make([]string, len(rows))
	for i, r := range rows {
		got[i] = fmt.Sprintf("%v/%v @%s %v %v %q %s %v %v %v", r[0], r[1], moment(r[2]), number(r[3]), r[4], r[5], moment(r[6]), r[7], r[8], r[9])
	}
	slices.Sort(got)
	slices.Sort(want)
	if slices.Equal(got, want) && len(want) > 0 {
		return
	}
	f.t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	for _, line := range got {
		if !slices.Contains(want, line) {
			f.t.Log("too much:", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			f.t.Log("missing: ", line)
		}
	}
}

func moment(v any) string {
	if at, is := v.(time.Time); is {
		return at.UTC().Format(time.RFC3339)
	}
	return fmt.Sprint(v)
}

func number(v any) string {
	if n, is := v.(float64); is && !math.IsNaN(n) {
		return fmt.Sprintf("%g", n)
	}
	return fmt.Sprint(v)
}

// sameRegistry asks for meters, their places and channels, also after an exchange.
func (f *fixture) sameRegistry(ask Query) {
	f.t.Helper()
	old, fresh := smart(f.t, "old"), smart(f.t, "new")
	old.Channels[0].OBIS = meter.OBIS{1, 0, 1, 29, 0, 255}
	r := must[store.Registered](f.t)(f.Register(f.t.Context(), []store.Registration{
		{Meter: old, ServicePoint: "sp", Premises: "house", From: f.at(1, 0, 0)}, {Meter: fresh, From: f.at(20, 0, 0)},
	}))
	if r.Added != 2 {
		f.t.Fatalf("registered %+v", r)
	}
	places := func(want string) {
		f.t.Helper()
		rows := ask(f.t, "SELECT meter, commodity, service_point, premises, until FROM meters WHERE meter IN ('old', 'new') ORDER BY meter DESC")
		var got []string
		for _, r := range rows {
			got = append(got, fmt.Sprint(r[:4]...)+" "+strconv.FormatBool(r[4] != nil))
		}
		if text := strings.Join(got, "; "); text != want {
			f.t.Errorf("meters: %s, want %s", text, want)
		}
	}
	places("oldelectricitysphouse false; newelectricity<nil> <nil> false")
	if err := f.Exchange(f.t.Context(), "sp", "new", f.at(21, 0, 0)); err != nil {
		f.t.Fatal(err)
	}
	places("oldelectricity<nil> <nil> true; newelectricitysphouse false")
	got := fmt.Sprint(ask(f.t, "SELECT channel, reading_type, obis, unit, multiplier, seconds FROM channels WHERE meter = 'old' ORDER BY channel"))
	if want := "[[1 " + quarter + " 1-0:1.29.0*255 kWh 1 900] [2 " + register + " <nil> kWh 1 0]]"; got != want {
		f.t.Errorf("channels: %s, want %s", got, want)
	}
}

func (f *fixture) sameEvents(ask Query) {
	f.t.Helper()
	at := f.at(27, 3, 12)
	must[store.EventResult](f.t)(f.AppendEvents(f.t.Context(), &store.EventBatch{Events: []store.Event{
		{Event: meter.Event{Meter: "m1", At: at, Kind: meter.LastGasp, Severity: meter.Critical, Code: meter.EventCode{3, 26, 0, 185}, Detail: "phase 2"}, Who: "concentrator:c1"},
	}}))
	rows := ask(f.t, "SELECT meter, time, kind, severity, code, detail, who FROM meter_events")
	for _, r := range rows {
		r[1] = moment(r[1])
	}
	got := fmt.Sprint(rows)
	if want := fmt.Sprintf("[[m1 %s last-gasp critical 3.26.0.185 phase 2 concentrator:c1]]", at.UTC().Format(time.RFC3339)); got != want {
		f.t.Errorf("events: %s, want %s", got, want)
	}
}
