package line

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
)

// troubleLog logs the problems of a line and its devices, equal messages at doubling intervals.
type troubleLog struct {
	log        *slog.Logger
	line, kind string // names of the line and its driver
	noise      backoff.Messages
	lost       bool // the current loss of the line has been logged
}

// back logs that a line and a device answer again, if the failure was logged.
func (t *troubleLog) back(ctx context.Context, u *Device) {
	if t.lost {
		t.lost = false
		t.log.InfoContext(ctx, "line is back", slog.String("line", t.line), slog.String("driver", t.kind))
	}
	if u.logged {
		u.logged = false
		t.log.InfoContext(ctx, "device answers again", slog.String("device", string(u.cfg.Path)))
	}
}

// loss logs that a line with so many devices is lost and rests, unless that was logged recently.
func (t *troubleLog) loss(ctx context.Context, err error, devices int, rest time.Duration, now clock.Instant) {
	if t.noise.Due(now.Steady) {
		t.lost = true
		t.log.WarnContext(ctx, "line is lost",
			slog.String("line", t.line), slog.String("driver", t.kind), slog.Int("devices", devices),
			slog.Uint64("count", t.noise.Count), slog.Duration("retry", rest),
			slog.String("kind", trouble.KindOf(err).String()), slog.Any("err", err))
	}
}

// complain logs a device's problem, unless that was logged recently.
func (t *troubleLog) complain(ctx context.Context, u *Device, err error, now clock.Instant) {
	if !u.noise.Due(now.Steady) {
		return
	}
	u.logged = true
	facts := []slog.Attr{
		slog.String("device", string(u.cfg.Path)), slog.String("driver", t.kind),
		slog.Uint64("count", u.noise.Count), slog.String("kind", trouble.KindOf(err).String()), slog.Any("err", err),
	}
	if c := trouble.CrashOf(err); c != nil {
		t.log.LogAttrs(ctx, slog.LevelError, "driver crashed", append(facts, slog.String("stack", string(c.Stack)))...)
		return
	}
	t.log.LogAttrs(ctx, slog.LevelWarn, "device does not answer as it should", facts...)
}

// declined logs a request that the device declined, unless that was logged recently. The device answers.
func (t *troubleLog) declined(ctx context.Context, u *Device, err error, now clock.Instant) {
	if u.noNoise.Due(now.Steady) {
		t.log.WarnContext(ctx, "device does not do what was asked", slog.String("device", string(u.cfg.Path)), slog.String("driver", t.kind),
			slog.Uint64("count", u.noNoise.Count), slog.String("kind", trouble.KindOf(err).String()), slog.Any("err", err))
	}
}

// diagnose records why a device that answers has bad points, or none that can be read, and logs a new finding.
func (t *troubleLog) diagnose(ctx context.Context, u *Device, none bool) {
	text, kind := "", fault.Internal
	if u.diagnosis != nil {
		text, kind = explain(u), trouble.KindOf(u.diagnosis)
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
		t.log.WarnContext(ctx, message, //nolint:sloglint // one of two constants
			slog.String("device", string(u.cfg.Path)), slog.String("driver", t.kind), slog.String("err", text))
	}
}

// explain adds to a diagnosis the setting of the device that limits it.
func explain(u *Device) string {
	if errors.Is(u.diagnosis, driver.ErrScanCut) {
		return fmt.Sprintf("%v; it may take %v: raise devices.%s.timeout, or read less", u.diagnosis, u.cfg.Timeout, u.cfg.Path)
	}
	return u.diagnosis.Error()
}
