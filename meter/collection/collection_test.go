package collection_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/collection"
	"voltbus/meter/gate"
	"voltbus/meter/setting"
	"voltbus/meter/store"
	"voltbus/point"
)

// site is devices whose registers count seconds, and a gate that keeps what it took.
type site struct {
	broken map[point.Path]error
	taken  []meter.Reading
	began  time.Time
}

func (s *site) read(_ context.Context, points []point.Path) []collection.Value {
	out := make([]collection.Value, len(points))
	for i, p := range points {
		if err := s.broken[p]; err != nil {
			out[i].Err = err
			continue
		}
		now := time.Now().Add(time.Millisecond)
		out[i].Sample = point.Sample{Point: p, Time: now, Quality: point.Good, Value: point.FloatOf(now.Sub(s.began).Round(time.Second).Seconds())}
	}
	return out
}

func (s *site) take(_ context.Context, sender, _ string, list []meter.Reading) (gate.Taken, error) {
	out := gate.Taken{}
	for i, r := range list {
		if r.Meter == "nobody" {
			out.Refused = append(out.Refused, store.Refusal{Index: i, Reason: "not registered for " + sender})
			continue
		}
		s.taken = append(s.taken, r)
		out.Accepted++
	}
	return out, nil
}

func collector(s *site, reads ...setting.Read) *collection.Collector {
	s.began = time.Now()
	return collection.New(collection.Config{Reads: reads, Zone: time.UTC, Read: s.read, Take: s.take, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

func TestBoundariesAreThoseOfTheLocalDay(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct {
		now   string
		every time.Duration
		want  string
	}{
		{"2026-03-03T11:07:01+01:00", 15 * time.Minute, "2026-03-03T11:15:00+01:00"},
		{"2026-03-03T11:15:00+01:00", 15 * time.Minute, "2026-03-03T11:30:00+01:00"},
		{"2026-03-03T11:15:00+01:00", 24 * time.Hour, "2026-03-04T00:00:00+01:00"},
		{"2026-03-29T00:00:00+01:00", 24 * time.Hour, "2026-03-30T00:00:00+02:00"}, // a day of 23 hours
		{"2026-10-25T00:00:00+02:00", 24 * time.Hour, "2026-10-26T00:00:00+01:00"}, // one of 25
	} {
		if got := collection.Boundary(at(tt.now), tt.every, zone); !got.Equal(at(tt.want)) {
			t.Errorf("%s after %s: %s, want %s", tt.every, tt.now, got, tt.want)
		}
	}
}

func TestMetersAreReadOnScheduleAndOnlyWholeIntervalsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{broken: map[point.Path]error{}}
		k := collector(s, setting.Read{Meter: "m1", Channel: 1, Point: "a/energy", Every: time.Minute, As: setting.AsAdvance},
			setting.Read{Meter: "m1", Channel: 2, Point: "a/energy", Every: 2 * time.Minute}, setting.Read{Meter: "m2", Channel: 1, Point: "b/energy"})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- k.Run(ctx) }()
		minutes := func(n int) time.Time { return s.began.Add(time.Duration(n) * time.Minute).UTC() }
		time.Sleep(3*time.Minute + time.Second) //nolint:forbidigo // virtual time
		s.broken["a/energy"] = errors.New("silent")
		time.Sleep(time.Minute) //nolint:forbidigo // virtual time: the end of the fourth is missed
		delete(s.broken, "a/energy")
		time.Sleep(2 * time.Minute) //nolint:forbidigo // virtual time
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		want := []meter.Reading{
			{Meter: "m1", Channel: 1, End: minutes(2), Value: 60},
			{Meter: "m1", Channel: 2, End: minutes(2), Value: 120},
			{Meter: "m1", Channel: 1, End: minutes(3), Value: 60},
			{Meter: "m1", Channel: 1, End: minutes(6), Value: 60},
			{Meter: "m1", Channel: 2, End: minutes(6), Value: 360},
		}
		if diff := cmp.Diff(want, s.taken, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAReadOnDemandSaysWhatCameOfEachMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := func(k fault.Kind) error { return fault.E("device.Read", k, "x", errors.New("why")) }
		s := &site{broken: map[point.Path]error{"late": e(fault.Timeout), "away": e(fault.Unreachable), "shut": e(fault.Refused), "odd": e(fault.Corrupt)}}
		k := collector(s,
			setting.Read{Meter: "m1", Channel: 1, Point: "a/energy"}, setting.Read{Meter: "m1", Channel: 2, Point: "late"}, setting.Read{Meter: "m2", Channel: 1, Point: "away"},
			setting.Read{Meter: "m3", Channel: 1, Point: "shut"}, setting.Read{Meter: "m4", Channel: 1, Point: "odd"}, setting.Read{Meter: "nobody", Channel: 1, Point: "b"},
			setting.Read{Meter: "m5", Channel: 1, Point: "c", As: setting.AsAdvance})
		got, err := k.ReadNow(t.Context(), "person:ada", []string{"m1", "m2", "m3", "m4", "m9", "nobody", "m5"})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"m1/1 answered true", "m1/2 timed-out false", "m2/1 unreachable false", "m3/1 refused false", "m4/1 failed false", "m9/0 unknown false", "nobody/1 answered false", "m5/1 answered false"}
		var is []string
		for _, o := range got {
			is = append(is, o.Meter+"/"+string(rune('0'+o.Channel))+" "+o.Result+" "+map[bool]string{true: "true", false: "false"}[o.Recorded])
			if !o.Recorded && o.Reason == "" {
				t.Errorf("%+v: no reason", o)
			}
		}
		if diff := cmp.Diff(want, is); diff != "" {
			t.Error(diff)
		}
		if len(s.taken) != 1 || s.taken[0].Meter != "m1" || s.taken[0].Channel != 1 {
			t.Errorf("recorded %+v", s.taken)
		}
	})
}
