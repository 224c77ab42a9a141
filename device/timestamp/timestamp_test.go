package timestamp_test

import (
	"testing"
	"time"

	"voltbus/device/timestamp"
	"voltbus/point"
)

func TestNoTwoSamplesOfAPointShareATime(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	var p timestamp.Point
	put := func(v int64, at time.Time) time.Time {
		s := point.Sample{Time: at, Value: point.IntOf(v)}
		p.Put(&s)
		return s.Time
	}
	first := put(1, at)
	if !first.Equal(at) {
		t.Errorf("the first sample got %v", first)
	}
	if again := put(1, at); !again.Equal(first) {
		t.Errorf("the same sample again got %v, want %v", again, first)
	}
	other := put(2, at)
	if !other.After(first) || other.Sub(first) > time.Millisecond {
		t.Errorf("another value at the same time got %v, want a moment behind %v", other, first)
	}
	if third := put(3, at); third.Equal(first) || third.Equal(other) {
		t.Errorf("a third value got %v, which another has", third)
	}
}

func TestWhatTheNodeSaysIsPutBehindADeviceWhoseClockIsALittleAhead(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name string
		last time.Time
		want time.Time
	}{
		{"a clock that is behind", now.Add(-time.Second), now},
		{"a clock that is a second ahead", now.Add(time.Second), now.Add(time.Second + time.Microsecond)},
		{"a clock that is an hour ahead", now.Add(time.Hour), now},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p timestamp.Point
			p.Put(&point.Sample{Time: test.last, Value: point.IntOf(1)})
			if got := p.Behind(now); !got.Equal(test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
