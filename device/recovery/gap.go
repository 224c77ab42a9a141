package recovery

import (
	"context"
	"time"

	"voltbus/point"
)

// gap is a period without known values. Its ends are the times of the adjacent values, and exclusive.
type gap struct{ after, before time.Time }

// overdue is the distance between two values, in intervals, from which there is a gap.
const overdue = 1.5

// finder finds the gaps between samples added in the order of their times.
type finder struct {
	least time.Duration
	last  time.Time
	gaps  []gap
}

// maxGaps bounds the gaps of a point; the newest are kept.
const maxGaps = 1000

func (f *finder) add(t time.Time) {
	if !f.last.IsZero() && t.Sub(f.last) > f.least {
		if len(f.gaps) == maxGaps {
			f.gaps = append(f.gaps[:0], f.gaps[1:]...)
		}
		f.gaps = append(f.gaps, gap{f.last, t})
	}
	f.last = t
}

// gapsOf returns the gaps of a point up to the time when its device was back.
func (f *fill) gapsOf(ctx context.Context, p point.Path, from, to time.Time) ([]gap, error) {
	if f.Read == nil || f.device.Interval <= 0 {
		return f.seen(ctx, p, from, to)
	}
	found := finder{least: time.Duration(overdue * float64(f.device.Interval))}
	err := f.Read(ctx, p, from, to, func(samples []point.Sample) error {
		for i := range samples {
			if samples[i].Time.Before(to) {
				found.add(samples[i].Time)
			}
		}
		return nil
	})
	if err == nil && !found.last.IsZero() {
		found.add(to)
	}
	return found.gaps, err
}

// seen returns the observed absence as a gap, for a device that reports only changes or a node without a history: there, silence alone is no
// gap.
func (f *fill) seen(ctx context.Context, p point.Path, from, to time.Time) ([]gap, error) {
	begin := later(f.lost, from)
	if f.lost.IsZero() || !begin.Before(to) {
		return nil, nil
	}
	last := begin
	if f.Read != nil { // known already, for example from an attempt that ended early
		err := f.Read(ctx, p, begin, to, func(samples []point.Sample) error {
			last = later(last, samples[len(samples)-1].Time)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !last.Before(to) {
		return nil, nil
	}
	return []gap{{last, to}}, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
