package point_test

import (
	"testing"
	"time"

	"voltbus/point"
)

func TestTimesOfClocksThatAreSetWronglyAreNotBelieved(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	narrow := point.Bounds{Past: time.Hour, Ahead: time.Minute}
	for _, tt := range []struct {
		name   string
		bounds point.Bounds
		time   time.Time
		want   bool
	}{
		{"now", narrow, now, true},
		{"as old as it may be", narrow, now.Add(-time.Hour), true},
		{"older", narrow, now.Add(-time.Hour - 1), false},
		{"as far ahead as it may be", narrow, now.Add(time.Minute), true},
		{"further ahead", narrow, now.Add(time.Minute + 1), false},
		{"an import of a former century", point.Bounds{}, time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC), true},
		{"a forecast", point.Bounds{}, now.AddDate(10, 0, 0), true},
		{"a clock that was never set", point.Bounds{}, time.Unix(0, 0), false},
		{"a clock that was never set and ran for years", point.Bounds{}, time.Date(1979, 12, 31, 23, 59, 59, 0, time.UTC), false},
		{"long ago where somebody lets it", point.Bounds{Past: 100 * 8760 * time.Hour}, time.Unix(0, 0), true},
	} {
		if got := tt.bounds.Hold(tt.time, now); got != tt.want {
			t.Errorf("%s: believed: %v", tt.name, got)
		}
	}
}
