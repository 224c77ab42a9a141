package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// scanSlot reads all points of a device and emits what came of it.
func (l *line) scanSlot(ctx context.Context, u *unit, slot time.Time) {
	var samples []point.Sample
	now, err := l.attempt(ctx, u, true, func(ctx context.Context, s driver.Session) (err error) {
		samples, err = readAll(ctx, u, s, u.names)
		if isAnswer(err) {
			return declined{error: err, scan: true}
		}
		return err
	})
	if u.overheard {
		samples = slices.Clone(samples) // they are the session's until it is called again
		_ = l.takeReports(ctx, u)       // what is wrong the read has said
	}
	switch {
	case err == nil:
		l.stamp(u, u.paths, samples, now)
		u.dateScan(samples, now)
		u.countMisdated(ctx)
		l.diagnose(ctx, u, !slices.ContainsFunc(samples, hasValue))
		l.deliver(u, slot, samples, now)
	case ctx.Err() != nil:
	case Declined(err):
		l.refused(ctx, u, err, now)
		l.deliverBad(u, slot, qualityOf(err), now)
	default:
		l.deliverBad(u, slot, qualityOf(err), now)
	}
}

// readAll reads names, and checks that the driver answered for each.
func readAll(ctx context.Context, u *unit, s driver.Session, names []string) ([]point.Sample, error) {
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

// refused draws the conclusions when a scan was answered with an error: the device is there, and gives nothing.
func (l *line) refused(ctx context.Context, u *unit, err error, now instant) {
	l.answered(ctx, u)
	u.mu.Lock()
	u.become(Online, now)
	u.mu.Unlock()
	u.diagnosis = err
	l.diagnose(ctx, u, true)
}

// diagnose keeps why a device that answers has bad points, or none that can be read, and logs it when it is news.
func (l *line) diagnose(ctx context.Context, u *unit, none bool) {
	text, kind := "", fault.Internal
	if u.diagnosis != nil {
		text, kind = l.explain(u), kindOf(u.diagnosis)
	}
	u.mu.Lock()
	news := u.state.Problem != text
	u.state.Problem, u.state.ProblemKind, u.state.Refuses = text, kind, none && text != ""
	u.mu.Unlock()
	if news && text != "" && text != u.diagnosed {
		u.diagnosed = text
		message := "device answers, but not for all points"
		if none {
			message = "device answers, but gives no point"
		}
		l.log.WarnContext(ctx, message, //nolint:sloglint // one of two constants
			slog.String("device", string(u.cfg.Path)), slog.String("driver", l.key.kind), slog.String("err", text))
	}
}

// explain adds to a diagnosis which setting of the device bounds it.
func (l *line) explain(u *unit) string {
	if errors.Is(u.diagnosis, driver.ErrScanCut) {
		return fmt.Sprintf("%v; it may take %v: raise devices.%s.timeout, or read less", u.diagnosis, u.cfg.Timeout, u.cfg.Path)
	}
	return u.diagnosis.Error()
}

// stamp gives samples their full paths, and the time of the answer where the driver has none.
func (l *line) stamp(u *unit, paths []point.Path, samples []point.Sample, now instant) {
	for i := range samples {
		s := &samples[i]
		s.Point = paths[i]
		if s.Time.IsZero() {
			s.Time = now.wall
		}
	}
	if backs := l.clock.backs.Load(); backs != u.clock {
		u.clock = backs
		doubt(samples)
	}
}

// doubt marks samples as taken by a clock that has just gone back.
func doubt(samples []point.Sample) {
	for i := range samples {
		if samples[i].Quality.IsGood() {
			samples[i].Quality = point.UncertainClock
		}
	}
}

// deliver emits a scan with values.
func (l *line) deliver(u *unit, slot time.Time, samples []point.Sample, now instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.scanned(now)
	l.scan = point.Scan{Device: u.cfg.Path, Slot: slot, Time: now.wall, Samples: samples}
	l.out.emit(u, &l.scan, true)
	l.scan.Samples = nil
}

// deliverBad emits a scan without values.
func (l *line) deliverBad(u *unit, slot time.Time, q point.Quality, now instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l.out.emitBad(u, slot, q, now, l.limits.RecordBad)
}

// skip serves a slot without asking the device.
func (l *line) skip(u *unit, slot time.Time, q point.Quality, now instant) {
	u.mu.Lock()
	u.state.Skipped++
	u.mu.Unlock()
	l.deliverBad(u, slot, q, now)
}
