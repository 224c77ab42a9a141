package line

import (
	"context"
	"time"

	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/internal/deadline"
	"voltbus/point"
)

// attempt lets ask access the device within its time-out, and draws the conclusions: for the line if it is
// lost, for the device if it is silent. With again, a line that had worked and is now lost is dialled and
// asked once more. It returns when the attempt has ended. The error is ask's, or tells why the device could
// not be reached. If ctx ends meanwhile, nothing is concluded.
func (l *Line) attempt(ctx context.Context, u *Device, again bool, ask asking) (clock.Instant, error) { //nolint:contextcheck // that of the right to the device ends it, too
	if hold := u.cfg.Hold; hold != nil {
		joined := deadline.Join(ctx, hold)
		defer joined.End()
		ctx = joined
	}
	begin := l.clock.Now()
	err := l.try(ctx, u, begin, ask)
	if again && trouble.IsLineLost(err) && l.conn.proven && ctx.Err() == nil {
		l.conn.hangUp(ctx)
		err = l.try(ctx, u, l.clock.Now(), ask)
	}
	now := l.clock.Now()
	if err == nil || ctx.Err() == nil {
		l.conclude(ctx, u, err, begin, now)
	}
	return now, err
}

// asking is one exchange with a device.
type asking func(ctx context.Context, s driver.Session) error

// try opens what is not open and lets ask access the device once.
func (l *Line) try(ctx context.Context, u *Device, now clock.Instant, ask asking) error {
	if !l.conn.isOpen(u) {
		if err := l.conn.reach(ctx, u); err != nil {
			return err
		}
		now = l.clock.Now()
	}
	if err := u.cfg.Held(); err != nil {
		return trouble.Abandon(err)
	}
	limited := deadline.New(ctx, u.cfg.Timeout)
	defer limited.End()
	return l.calls.guardUntil(u, now.Steady+hangAfter(u), func() error { //nolint:contextcheck // limited is ctx with a deadline
		return ask(limited, u.session)
	})
}

// conclude updates the state of device and line after an attempt.
func (l *Line) conclude(ctx context.Context, u *Device, err error, begin, now clock.Instant) {
	took := now.Steady - begin.Steady
	u.mu.Lock()
	u.state.Latency = took
	switch {
	case err == nil:
		u.answered(now)
	case trouble.Declined(err):
		u.declined(err, now)
	case !trouble.IsAbandoned(err):
		u.failed(err, now)
	}
	u.mu.Unlock()
	switch {
	case err == nil:
		l.answered(ctx, u)
	case trouble.IsLineLost(err):
		l.conn.lose(ctx, err)
	case trouble.IsCrash(err):
		l.conn.lose(ctx, err)
		l.silence(ctx, u, trouble.QualityOf(err), took)
		l.trouble.complain(ctx, u, err, now)
	case trouble.IsAbandoned(err):
	case trouble.IsOfScan(err): // the scan interprets it
	case trouble.Declined(err):
		l.trouble.declined(ctx, u, err, now)
	case trouble.IsSilence(err):
		l.silence(ctx, u, trouble.QualityOf(err), took)
		l.trouble.complain(ctx, u, err, now)
	default:
		l.trouble.complain(ctx, u, err, now)
	}
}

// silence records that a device did not answer in time.
func (l *Line) silence(ctx context.Context, u *Device, q point.Quality, took time.Duration) {
	if l.silences.deepen(u, l.units, q, took) {
		l.conn.hangUp(ctx)
	}
}

// answered ends the trouble of the device and the line. If the device was waiting for a probe, because it has answered a
// request before that, the slot is served as usual instead.
func (l *Line) answered(ctx context.Context, u *Device) {
	l.conn.answered()
	l.silences.mute = 0
	if owed, waited := l.silences.end(u); waited {
		l.timetable.bringBack(u, owed)
	}
	l.trouble.back(ctx, u)
}
