package recovery

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"voltbus/device/acquisition"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// fill fills the gaps of one device.
type fill struct {
	*Options

	device acquisition.Config
	lost   time.Time // since when it was away, as far as observed
	back   time.Time // since when it is back
}

// run asks the device for its log only if there are gaps. The first point shows that; it is filled last, so that after an
// attempt that ended early there is a gap again.
func (f *fill) run(ctx context.Context) error {
	span, first := f.span()
	if span <= 0 {
		return nil
	}
	gaps, err := f.gapsOf(ctx, f.device.Path.Join(first), f.back.Add(-span), f.back)
	if err != nil || len(gaps) == 0 {
		return err
	}
	names, err := f.logged(ctx)
	if err != nil || len(names) == 0 {
		return err
	}
	if at := slices.Index(names, first); at >= 0 {
		names = append(slices.Delete(names, at, at+1), first)
	}
	n := 0
	for _, name := range names {
		filled, err := f.fillPoint(ctx, name, gaps[0].after, f.back)
		n += filled
		if err != nil {
			return err
		}
	}
	f.Log.InfoContext(ctx, "gaps of a device were filled from its log", slog.String("device", string(f.device.Path)),
		slog.Int("points", len(names)), slog.Int("samples", n))
	return nil
}

// span returns how far back gaps are filled, and the first point; 0 if they are not filled.
func (f *fill) span() (span time.Duration, first string) {
	log, may := f.device.Driver.(driver.Logged)
	if !may || !f.device.Record {
		return 0, ""
	}
	points := f.device.Driver.Points()
	if len(points) == 0 {
		return 0, ""
	}
	return log.LogSpan(), string(points[0].Path)
}

// logged asks the device which points it logs; none if its driver cannot tell.
func (f *fill) logged(ctx context.Context) (names []string, err error) {
	err = f.Fleet.Do(ctx, f.device.Path, func(ctx context.Context, s driver.Session) error {
		if log, can := s.(driver.LogReader); can {
			names, err = log.LoggedPoints(ctx)
			return err
		}
		return nil
	})
	return names, err
}

// fillPoint fills the gaps of one point, and returns the number of samples added.
func (f *fill) fillPoint(ctx context.Context, name string, from, to time.Time) (n int, err error) {
	path := f.device.Path.Join(name)
	gaps, err := f.gapsOf(ctx, path, from, to)
	if err != nil {
		return 0, err
	}
	for _, g := range gaps {
		filled, err := f.fillGap(ctx, name, path, g)
		n += filled
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// fillGap records what the device logged in a gap, a part at a time: between two parts the line serves what else is due.
func (f *fill) fillGap(ctx context.Context, name string, path point.Path, g gap) (n int, err error) {
	for more := true; more; {
		var part driver.LogPart
		err := f.Fleet.Do(ctx, f.device.Path, func(ctx context.Context, s driver.Session) (err error) {
			if log, can := s.(driver.LogReader); can {
				part, err = log.ReadLog(ctx, name, g.after, g.before)
			}
			return err
		})
		if fault.Is(err, fault.Rejected) || fault.Is(err, fault.NotFound) { // the log no longer exists; continue with the others
			f.Log.WarnContext(ctx, "a log of a device cannot be read", slog.String("point", string(path)), slog.Any("err", err))
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for i := range part.Samples {
			part.Samples[i].Point = path
		}
		if len(part.Samples) > 0 {
			if err := f.Record(ctx, part.Samples); err != nil {
				return n, err
			}
		}
		n += len(part.Samples)
		more, g.after = part.More && part.Next.After(g.after), later(part.Next, g.after)
	}
	return n, nil
}
