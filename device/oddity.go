package device

import (
	"context"
	"fmt"
	"log/slog"

	"voltbus/device/backoff"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/plural"
)

// countOddities notes what a driver counts beside samples: reports that were lost before they could be taken, and times
// that were not believed.
func (u *unit) countOddities(ctx context.Context) {
	if s, can := u.session.(driver.Lossy); can {
		u.countOddity(ctx, s.Lost, oddity{
			sum: &u.state.Lost, noise: &u.lossNoise, kind: fault.Unavailable, noun: "report", message: "reports were lost",
			advice: "lost; raise how many its driver keeps (max_events) or the device keeps itself, or let it report less",
		})
	}
	u.countMisdated(ctx)
}

// countMisdated is countOddities for times alone: a scan loses no reports.
func (u *unit) countMisdated(ctx context.Context) {
	if s, can := u.session.(driver.Dated); can {
		u.countOddity(ctx, s.Misdated, oddity{
			sum: &u.state.Misdated, noise: &u.dateNoise, kind: fault.Invalid, noun: "time", message: "times of the device are not believed",
			advice: "out of bounds and got the time of arrival; set the device's clock to UTC, or its clock_ahead and clock_behind",
		})
	}
}

// oddity is something that a driver counts, and how it is logged.
type oddity struct {
	sum     *uint64 // in the state of the device
	noise   *backoff.Messages
	kind    fault.Kind
	noun    string
	message string // of the log
	advice  string
}

// countOddity adds up what came since count was called last, and tells it.
func (u *unit) countOddity(ctx context.Context, count func() uint64, o oddity) {
	l, n := u.line, uint64(0)
	if err := l.calls.guard(u, func() error { n = count(); return nil }); err != nil || n == 0 {
		return
	}
	now := l.clock.Now()
	err := fault.E("device.listen", o.kind, string(u.cfg.Path), fmt.Errorf("%s %s", plural.Were(n, o.noun), o.advice))
	u.mu.Lock()
	*o.sum += n
	u.blame(err, now)
	u.mu.Unlock()
	if o.noise.Due(now.Steady) {
		l.trouble.log.WarnContext(ctx, o.message, slog.String("device", string(u.cfg.Path)), //nolint:sloglint // one of two constants
			slog.String("driver", l.key.kind), slog.Uint64("count", o.noise.Count), slog.Any("err", err))
	}
}
