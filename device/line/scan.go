package line

import (
	"context"
	"fmt"
	"slices"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// scanSlot reads all points of a device and emits the result.
func (l *Line) scanSlot(ctx context.Context, u *Device, slot time.Time) {
	var samples []point.Sample
	now, err := l.attempt(ctx, u, true, func(ctx context.Context, s driver.Session) (err error) {
		samples, err = readAll(ctx, u, s, u.names)
		if trouble.IsAnswer(err) {
			return trouble.DeclineScan(err)
		}
		return err
	})
	if u.collects {
		samples = slices.Clone(samples) // the session reuses them in its next call
		_ = l.reports.take(ctx, u)      // the read reveals the problem
	}
	switch {
	case err == nil:
		l.publisher.stamp(u, u.paths, samples, now)
		u.mu.Lock()
		u.dates.Scan(samples, now.Wall)
		u.mu.Unlock()
		countMisdated(ctx, u)
		l.trouble.diagnose(ctx, u, !slices.ContainsFunc(samples, hasValue))
		l.publisher.deliver(u, slot, samples, now)
	case ctx.Err() != nil:
	case trouble.Declined(err):
		l.refused(ctx, u, err, now)
		l.publisher.deliverBad(u, slot, trouble.QualityOf(err), now)
	default:
		l.publisher.deliverBad(u, slot, trouble.QualityOf(err), now)
	}
}

// readAll reads names, and checks that the driver returned a sample for each.
func readAll(ctx context.Context, u *Device, s driver.Session, names []string) ([]point.Sample, error) {
	samples, err := s.Read(ctx, names)
	if err == nil && len(samples) != len(names) {
		err = fault.E("device.read", fault.Internal, string(u.cfg.Path), fmt.Errorf(
			"driver %s returned %d samples for %d points: this is a defect of the driver",
			u.cfg.Kind.Name, len(samples), len(names)))
	}
	u.diagnosis = nil
	if d, can := s.(driver.Diagnoser); can && err == nil {
		u.diagnosis = d.Diagnose()
	}
	return samples, err
}

func hasValue(s point.Sample) bool { return !s.Quality.IsBad() }

// refused draws the conclusions when a scan was answered with an error: the device is present, but gives no values.
func (l *Line) refused(ctx context.Context, u *Device, err error, now clock.Instant) {
	l.answered(ctx, u)
	u.mu.Lock()
	u.become(acquisition.Online, now)
	u.mu.Unlock()
	u.diagnosis = err
	l.trouble.diagnose(ctx, u, true)
}

// reading is the request that reads points of a device.
func reading(ctx context.Context, u *Device, paths []point.Path, names []string, samples *[]point.Sample) func(context.Context, *Line) error {
	return func(lineCtx context.Context, l *Line) error {
		_, err := l.attempt(lineCtx, u, true, onBehalf(ctx, func(ctx context.Context, s driver.Session) error {
			read, err := readAll(ctx, u, s, names)
			if err == nil {
				l.publisher.stamp(u, paths, read, l.clock.Now())
				*samples = slices.Clone(read)
			}
			return err
		}))
		return err
	}
}
