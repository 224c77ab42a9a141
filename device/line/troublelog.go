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

// troubleLog logs what a line and its devices are in trouble with, equal messages at doubling distance.
type troubleLog struct {
	log        *slog.Logger
	line, kind string // name of the line, and of its driver
	noise      backoff.Messages
	lost       bool // the present loss of the line was logged
}

// back logs that a line and a device answer again, if it was logged that they did not.
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

// loss logs that a line with so many devices is lost and rests, if it is new enough.
func (t *troubleLog) loss(ctx context.Context, err error, devices int, rest time.Duration, now clock.Instant) {
	if t.noise.Due(now.Steady) {
		t.lost = true
		t.log.WarnContext(ctx, "line is lost",
			slog.String("line", t.line), slog.String("driver", t.kind), slog.Int("devices", devices),
			slog.Uint64("count", t.noise.Count), slog.Duration("retry", rest),
			slog.String("kind", trouble.KindOf(err).String()), slog.Any("err", err))
	}
}

// complain logs a device's trouble, if it is new enough.
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

// declined logs a request that was answered with no, if it is new enough. The device answers.
func (t *troubleLog) declined(ctx context.Context, u *Device, err error, now clock.Instant) {
	if u.noNoise.Due(now.Steady) {
		t.log.WarnContext(ctx, "device does not do what was asked", slog.String("device", string(u.cfg.Path)), slog.String("driver", t.kind),
			slog.Uint64("count", u.noNoise.Count), slog.String("kind", trouble.KindOf(err).String()), slog.Any("err", err))
	}
}

// diagnose keeps why a device that answers has bad points, or none that can be read, and logs it when it is news.
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

// explain adds to a diagnosis which setting of the device bounds it.
func explain(u *Device) string {
	if errors.Is(u.diagnosis, driver.ErrScanCut) {
		return fmt.Sprintf("%v; it may take %v: raise devices.%s.timeout, or read less", u.diagnosis, u.cfg.Timeout, u.cfg.Path)
	}
	return u.diagnosis.Error()
}
