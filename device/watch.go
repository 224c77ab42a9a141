package device

import (
	"context"
	"log/slog"
	"time"

	"voltbus/point"
)

// watchPeriod is how often the watch looks.
const watchPeriod = time.Second

// watch notices, for all lines, what their goroutines cannot notice while they wait: a jump of
// the wall clock, a driver that does not return, devices that became stale.
func (f *Fleet) watch(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	noises := make(map[*line]*doubling)
	jumps := f.clock.jumps.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := f.clock.follow()
		if seen := f.clock.jumps.Load(); seen != jumps {
			jumps = seen
			f.log.WarnContext(ctx, "clock jumped, schedules are planned anew", slog.Time("now", now.wall))
			f.nudgeAll()
		}
		f.reportHung(ctx, now, noises)
		f.reportStale(now)
	}
}

func (f *Fleet) nudgeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lines {
		l.box.nudge()
	}
}

// reportHung logs lines that stand still, each first and then at doubling distance.
func (f *Fleet) reportHung(ctx context.Context, now instant, noises map[*line]*doubling) {
	for _, l := range f.hungLines(now) {
		noise := noises[l]
		if noise == nil {
			noise = &doubling{}
			noises[l] = noise
		}
		overdue, _ := l.hung(now)
		if noise.due(now.steady) {
			f.log.ErrorContext(ctx, "line stands still", slog.String("line", l.key.name),
				slog.String("driver", l.key.kind), slog.String("err", l.hungText(overdue)))
		}
	}
	for l := range noises {
		if _, hung := l.hung(now); !hung {
			delete(noises, l)
		}
	}
}

func (f *Fleet) hungLines(now instant) []*line {
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []*line
	for _, l := range f.lines {
		if _, hung := l.hung(now); hung {
			lines = append(lines, l)
		}
	}
	return lines
}

// reportStale emits a bad scan for each device that gave none for too long, once.
func (f *Fleet) reportStale(now instant) {
	for _, u := range f.wantedUnits() {
		if u.line == nil || u.cfg.StaleAfter <= 0 {
			continue
		}
		u.mu.Lock()
		if u.heard > 0 && !u.stale && !u.retired && now.steady-u.heard > u.cfg.StaleAfter {
			f.out.emitBad(u, time.Time{}, point.BadStale, now, f.limits.RecordBad)
		}
		u.mu.Unlock()
	}
}
