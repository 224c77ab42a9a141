package line

import (
	"context"
	"fmt"
	"log/slog"

	"voltbus/device/backoff"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/plural"
)

// countAnomalies records what a driver counts besides samples: reports lost before they could be taken, and rejected
// times.
func countAnomalies(ctx context.Context, u *Device) {
	if s, can := u.session.(driver.Lossy); can {
		countAnomaly(ctx, u, s.Lost, anomaly{
			sum: &u.state.Lost, noise: &u.lossNoise, kind: fault.Unavailable, noun: "report", message: "reports were lost",
			advice: "lost; raise how many its driver keeps (max_events) or the device keeps itself, or let it report less",
		})
	}
	countMisdated(ctx, u)
}

// countMisdated is countAnomalies for times alone: a scan loses no reports.
func countMisdated(ctx context.Context, u *Device) {
	if s, can := u.session.(driver.Dated); can {
		countAnomaly(ctx, u, s.Misdated, anomaly{
			sum: &u.state.Misdated, noise: &u.dateNoise, kind: fault.Invalid, noun: "time", message: "times of the device are not believed",
			advice: "out of bounds and got the time of arrival; set the device's clock to UTC, or its clock_ahead and clock_behind",
		})
	}
}

// anomaly is a condition that a driver counts, with its log message.
type anomaly struct {
	sum     *uint64 // the counter in the device's state
	noise   *backoff.Messages
	kind    fault.Kind
	noun    string
	message string // log message
	advice  string
}

// countAnomaly adds and logs what was counted since the last call of count.
func countAnomaly(ctx context.Context, u *Device, count func() uint64, o anomaly) {
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
			slog.String("driver", l.Key.Kind), slog.Uint64("count", o.noise.Count), slog.Any("err", err))
	}
}
