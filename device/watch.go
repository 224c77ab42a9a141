package device

import (
	"context"
	"log/slog"
	"time"

	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/device/line"
)

// watchPeriod is the interval of the watch.
const watchPeriod = time.Second

// watch monitors all lines in its own goroutine.
type watch struct {
	clock     *clock.Clock
	roster    *roster
	out       *line.Emitter
	log       *slog.Logger
	recordBad time.Duration // interval between recorded scans of a device that stays bad
	noises    map[*line.Line]*backoff.Messages
}

// run detects, for all lines, what their goroutines cannot detect while they wait: a jump of the wall clock,
// a driver that does not return, devices that became stale.
func (w *watch) run(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	w.noises = make(map[*line.Line]*backoff.Messages)
	jumps := w.clock.Jumps.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := w.clock.Follow()
		if seen := w.clock.Jumps.Load(); seen != jumps {
			jumps = seen
			w.log.WarnContext(ctx, "clock jumped, schedules are planned anew", slog.Time("now", now.Wall))
			w.roster.nudgeAll()
		}
		w.reportHung(ctx, now)
		w.reportStale(now)
	}
}

// reportHung logs lines that are stuck, each at first and then at doubling intervals.
func (w *watch) reportHung(ctx context.Context, now clock.Instant) {
	for _, l := range w.roster.hungLines(now) {
		noise := w.noises[l]
		if noise == nil {
			noise = &backoff.Messages{}
			w.noises[l] = noise
		}
		overdue, _ := l.Hung(now)
		if noise.Due(now.Steady) {
			w.log.ErrorContext(ctx, "line stands still", slog.String("line", l.Key.Name),
				slog.String("driver", l.Key.Kind), slog.String("err", l.HungText(overdue)))
		}
	}
	for l := range w.noises {
		if _, hung := l.Hung(now); !hung {
			delete(w.noises, l)
		}
	}
}

// reportStale emits a bad scan for each device that has given none for too long, once.
func (w *watch) reportStale(now clock.Instant) {
	for _, u := range w.roster.wantedUnits() {
		u.ReportStale(w.out, now, w.recordBad)
	}
}
