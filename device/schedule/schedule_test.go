package schedule

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/point"
)

func at(t *testing.T, clock string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339Nano, clock)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.UTC()
}

func TestSlotsAreMultiplesOfTheIntervalSince1970PlusTheOffset(t *testing.T) {
	for name, c := range map[string]struct {
		interval, offset time.Duration
		now, last        string
	}{
		"on a slot it is that slot":            {time.Minute, 0, "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"},
		"between slots it is the earlier":      {time.Minute, 0, "2026-03-01T12:00:59.9Z", "2026-03-01T12:00:00Z"},
		"the offset moves slots later":         {time.Minute, 5 * time.Second, "2026-03-01T12:00:04Z", "2026-03-01T11:59:05Z"},
		"an interval that no day divides by":   {7 * time.Second, 0, "1970-01-01T00:00:20Z", "1970-01-01T00:00:14Z"},
		"an offset beyond the interval wraps":  {time.Minute, 65 * time.Second, "2026-03-01T12:00:10Z", "2026-03-01T12:00:05Z"},
		"a negative offset moves slots back":   {time.Minute, -5 * time.Second, "2026-03-01T12:00:00Z", "2026-03-01T11:59:55Z"},
		"before 1970 the grid is the same":     {time.Minute, 0, "1969-12-31T23:59:30Z", "1969-12-31T23:59:00Z"},
		"a day's interval starts at midnight":  {24 * time.Hour, 0, "2026-03-01T12:00:00Z", "2026-03-01T00:00:00Z"},
		"one microsecond before is the former": {time.Second, 0, "2026-03-01T12:00:00.999999Z", "2026-03-01T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(c.interval, c.offset)
			if got, want := s.Last(at(t, c.now)), at(t, c.last); !got.Equal(want) {
				t.Errorf("last slot at %s: got %v, want %v", c.now, got, want)
			}
			if got, want := s.Next(at(t, c.now)), at(t, c.last).Add(c.interval); !got.Equal(want) {
				t.Errorf("next slot at %s: got %v, want %v", c.now, got, want)
			}
		})
	}
}

func TestPlacesInAGroupHalveTheWidestGap(t *testing.T) {
	var got []time.Duration
	for place := range 8 {
		got = append(got, Spread(place, 8*time.Second))
	}
	want := []time.Duration{0, 4e9, 2e9, 6e9, 1e9, 5e9, 3e9, 7e9}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnyNumberOfDevicesIsSpreadEvenlyToAFactorOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 500).Draw(t, "devices")
		const period = time.Hour
		moments := []time.Duration{period} // the next round's first
		for place := range n {
			moments = append(moments, Spread(place, period))
		}
		slices.Sort(moments)
		widest := time.Duration(0)
		for i := range n {
			widest = max(widest, moments[i+1]-moments[i])
		}
		if limit := 2 * period / time.Duration(n); widest > limit {
			t.Fatalf("a gap of %v among %d devices; at most %v", widest, n, limit)
		}
	})
}

func TestDevicesKeepTheirPlaceWhenOthersComeAndGo(t *testing.T) {
	config := func(paths ...string) []Member {
		var devices []Member
		for _, p := range paths {
			devices = append(devices, Member{Path: point.Path(p), Group: p[:1]})
		}
		return devices
	}
	places := func(s Places) map[string]int {
		got := make(map[string]int)
		for path := range s {
			got[string(path)] = s.Of(path)
		}
		return got
	}
	first := Places(nil).Assign(config("a1", "b1", "a2", "a3"))
	if diff := cmp.Diff(map[string]int{"a1": 0, "a2": 1, "a3": 2, "b1": 0}, places(first)); diff != "" {
		t.Errorf("places follow the order within the group:\n%s", diff)
	}
	second := first.Assign(config("a9", "a3", "a1", "a8", "b1"))
	if diff := cmp.Diff(map[string]int{"a1": 0, "a9": 1, "a3": 2, "a8": 3, "b1": 0}, places(second)); diff != "" {
		t.Errorf("newcomers take the free places:\n%s", diff)
	}
}
