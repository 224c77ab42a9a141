package point_test

import (
	"testing"
	"time"

	"voltbus/point"
)

func TestReadingsWithOneTimeGetDifferentOnesInTheirOrder(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		name       string
		given      []time.Duration // behind at, in microseconds
		wantMicros []int64
	}{
		{"different times stay", []time.Duration{0, 5, 7}, []int64{0, 5, 7}},
		{"equal times follow each other", []time.Duration{0, 0, 0}, []int64{0, 1, 2}},
		{"a time that was made is not given twice", []time.Duration{0, 0, 0, 1, 2}, []int64{0, 1, 2, 3, 4}},
		{"later times stay behind a run", []time.Duration{0, 0, 10}, []int64{0, 1, 10}},
		{"a clock that is set back is followed", []time.Duration{10, 10, 3, 4}, []int64{10, 11, 3, 4}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s point.Stamp
			for i, d := range c.given {
				got := s.Next(at.Add(d * time.Microsecond)).Sub(at).Microseconds()
				if got != c.wantMicros[i] {
					t.Errorf("reading %d is at %d µs; want %d", i, got, c.wantMicros[i])
				}
			}
		})
	}
}
