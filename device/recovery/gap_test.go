package recovery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"voltbus/device/acquisition"
	"voltbus/point"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minutes ...int) (list []time.Time) {
	for _, m := range minutes {
		list = append(list, noon.Add(time.Duration(m)*time.Minute))
	}
	return list
}

func TestGapsAreThePausesOfAPointUpToTheReturnOfItsDevice(t *testing.T) {
	for _, tt := range []struct {
		name     string
		samples  []time.Time
		interval time.Duration
		lost     time.Time
		want     []gap
	}{
		{"nothing was ever recorded", nil, time.Minute, noon, nil},
		{"all is there", at(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), time.Minute, time.Time{}, nil},
		{"one pause in the middle", at(0, 1, 5, 6, 7, 8, 9), time.Minute, time.Time{}, []gap{{at(1)[0], at(5)[0]}}},
		{"it has just come back", at(0, 1, 2), time.Minute, at(3)[0], []gap{{at(2)[0], at(10)[0]}}},
		{"a slot late is no gap", []time.Time{noon, noon.Add(9 * time.Minute), noon.Add(10*time.Minute - time.Second)}, 8 * time.Minute, time.Time{}, nil},
		{"a device that reports changes was not away", at(0, 5), 0, time.Time{}, nil},
		{"a device that reports changes was away", at(0, 5), 0, at(6)[0], []gap{{at(6)[0], at(10)[0]}}},
		{"a part of that was filled before", at(0, 5, 7), 0, at(6)[0], []gap{{at(7)[0], at(10)[0]}}},
		{"samples behind the return do not count", append(at(0, 1), at(11, 12)...), time.Minute, time.Time{}, []gap{{at(1)[0], at(10)[0]}}},
	} {
		f := fill{device: acquisition.Config{Interval: tt.interval}, lost: tt.lost, Options: &Options{History: History{
			Read: func(_ context.Context, _ point.Path, from, to time.Time, emit func([]point.Sample) error) error {
				for _, x := range tt.samples {
					if x.Before(from) || !x.Before(to) {
						continue
					}
					if err := emit([]point.Sample{{Time: x}}); err != nil {
						return err
					}
				}
				return nil
			},
		}}}
		got, err := f.gapsOf(t.Context(), "p", noon.Add(-time.Hour), at(10)[0])
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: the gaps are %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func TestAHistoryThatCannotBeReadIsNoGap(t *testing.T) {
	away := errors.New("the store is away")
	f := fill{device: acquisition.Config{Interval: time.Minute}, Options: &Options{History: History{
		Read: func(context.Context, point.Path, time.Time, time.Time, func([]point.Sample) error) error { return away },
	}}}
	if gaps, err := f.gapsOf(t.Context(), "p", noon, at(10)[0]); !errors.Is(err, away) || len(gaps) != 0 {
		t.Errorf("the gaps are %v, %v", gaps, err)
	}
}

func TestOnlyTheNewestOfManyGapsAreKept(t *testing.T) {
	f := finder{least: time.Minute}
	for i := range maxGaps + 10 {
		f.add(noon.Add(time.Duration(i) * time.Hour))
	}
	if len(f.gaps) != maxGaps || !f.gaps[len(f.gaps)-1].before.Equal(f.last) {
		t.Errorf("%d gaps are kept, up to %v", len(f.gaps), f.gaps[len(f.gaps)-1].before)
	}
}
