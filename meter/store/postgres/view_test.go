package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/postgres"
)

// TestTheViewsSayWhatTheHistoriesSay stores and judges readings at random, and compares what SQL says with the histories.
func TestTheViewsSayWhatTheHistoriesSay(t *testing.T) {
	o := options(t)
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 3, 28, 6, 0, 0, 0, time.UTC)
	o.Zone, o.Now = zone, func() time.Time { return clock }
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	random := rand.New(rand.NewPCG(1, 2))
	keys := registerThree(t, s)
	for range 60 {
		clock = clock.Add(time.Duration(1+random.IntN(600)) * time.Second)
		switch random.IntN(6) {
		case 0:
			day := store.DayOf(2026, 3, 28+random.IntN(2))
			_, err = s.Judge(t.Context(), day, func(c *store.ChannelDay) error {
				c.Rule = "r1"
				for i, v := range c.Values {
					if v != v || v > 30 { //nolint:gocritic // NaN
						c.Status[i], c.Estimates[i], c.Rules[i] = 32, float64(random.IntN(9)), "seven"
					}
				}
				return nil
			})
		case 1:
			k := keys[random.IntN(len(keys))]
			end := time.Date(2026, 3, 28, 12*random.IntN(5), 0, 0, 0, zone)
			err = s.Revise(t.Context(), k, []meter.Version{{End: end, Value: random.Float64(), Stage: meter.Edited, Origin: meter.Origin{Who: "ada", Reason: "it's so"}}})
		default:
			b := &store.Batch{Senders: []string{"c1"}}
			b.Keys = append(b.Keys, keys[random.IntN(len(keys))])
			first := time.Date(2026, 3, 28, 0, 15*random.IntN(200), 0, 0, zone)
			for i := range random.IntN(40) {
				b.Add(first.Add(time.Duration(i)*15*time.Minute).UnixMicro(), float64(random.IntN(40_000))/1000)
			}
			b.Add(first.Add(time.Minute).UnixMicro(), random.Float64())
			_, err = s.Append(t.Context(), b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	from, to := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, k := range keys {
		h, err := s.History(t.Context(), k, from, to)
		if err != nil {
			t.Fatal(err)
		}
		for view, want := range map[string][]meter.Version{"reading_versions": h.Versions(nil, from, to), "readings": h.AsKnown(nil, from, to, clock.Add(time.Hour))} {
			wantRows(t, o.Schema, view, k, want)
		}
	}
}

func registerThree(t *testing.T, s store.Store) []store.ChannelKey {
	t.Helper()
	kind := func(text string) meter.ReadingType {
		r, err := meter.ParseReadingType(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	profile, counter, daily := kind("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"), kind("0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0"), kind("0.0.0.4.1.1.12.0.0.0.0.1.0.0.0.3.72.0")
	r, err := s.Register(t.Context(), []store.Registration{{Meter: meter.Meter{ID: "m'1", Commodity: meter.Electricity, Channels: []meter.Channel{
		{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}, {Number: 2, ReadingType: counter, Multiplier: 1}, {Number: 7, ReadingType: daily, Interval: 12 * time.Hour, Multiplier: 1},
	}}}})
	if err != nil || r.Added != 1 {
		t.Fatalf("registered %+v, %v", r, err)
	}
	return []store.ChannelKey{{Meter: "m'1", Channel: 1}, {Meter: "m'1", Channel: 2}, {Meter: "m'1", Channel: 7}}
}

// wantRows compares what a view says of a channel.
func wantRows(t *testing.T, schema, view string, k store.ChannelKey, versions []meter.Version) {
	t.Helper()
	var want []string
	for _, v := range versions {
		status := ""
		if v.Status != 0 {
			status = "spike"
		}
		want = append(want, fmt.Sprintf("%s|%v|%s|%s|%s|%s|%s|%s", v.End.Format("2006-01-02 15:04:05"), v.Value, v.Stage, status, v.Recorded.Format("2006-01-02 15:04:05"), v.Origin.Who, v.Origin.Rule, v.Origin.Reason))
	}
	text := server.Query(t, fmt.Sprintf(`SELECT "end" AT TIME ZONE 'UTC', value, stage, status, recorded AT TIME ZONE 'UTC', who, rule, reason FROM %s.%s WHERE meter = '%s' AND channel = %d`,
		schema, view, strings.ReplaceAll(k.Meter, "'", "''"), k.Channel))
	got := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if view == "reading_versions" { // what was sent twice stands twice until it is judged
		got, want = slices.Compact(got), slices.Compact(want)
	}
	if len(versions) == 0 || !slices.Equal(got, want) {
		t.Errorf("%s of %v says %d rows, want %d:\n%s\nwant\n%s", view, k, len(got), len(want), strings.Join(got[:min(5, len(got))], "\n"), strings.Join(want[:min(5, len(want))], "\n"))
	}
}
