package recovery

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/device/acquisition"
	"voltbus/driver"
	"voltbus/point"
)

// Fleet owns the devices, as device.Fleet does.
type Fleet interface {
	Configs() []acquisition.Config
	Devices() []acquisition.State
	Do(ctx context.Context, device point.Path, do func(context.Context, driver.Session) error) error
}

// Absence is when a device was away.
type Absence struct {
	Lost time.Time // since when, as far as it was seen; zero if it was not
	Back time.Time // since when it is there
}

// Watch has something done for each device that is reachable anew.
type Watch struct {
	Fleet Fleet
	// Do does it. After an error it is called again, a minute later.
	Do     func(ctx context.Context, c acquisition.Config, away Absence) error
	Repeat time.Duration // between two calls while the device stays reachable; 0: one is enough
	Log    *slog.Logger
	Task   string // what Do does, for the log
	Now    func() time.Time

	known map[point.Path]*status
}

// Bounds of the work.
const (
	lookEvery = time.Second
	again     = time.Minute // after something went wrong
	together  = 8           // devices that are asked at once
)

// status is what is known of a device. Run's goroutine owns it; one job of the device at most is under way.
type status struct {
	online bool
	Absence
	due  time.Time // of a job that is to be done; zero: none
	busy bool
}

// ended is how a job ended.
type ended struct {
	path point.Path
	back time.Time
	err  error
}

// Run watches the devices until ctx ends, and returns nil.
func (w *Watch) Run(ctx context.Context) error {
	w.known = make(map[point.Path]*status)
	var jobs errgroup.Group
	jobs.SetLimit(together)
	done := make(chan ended, together)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	defer func() { _ = jobs.Wait() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-done:
			w.end(ctx, e)
			w.begin(ctx, &jobs, done)
		case <-ticker.C:
			w.look()
			w.begin(ctx, &jobs, done)
		}
	}
}

// look notes which devices are away, and which are back.
func (w *Watch) look() {
	for _, state := range w.Fleet.Devices() {
		s := w.known[state.Path]
		if s == nil {
			s = &status{}
			w.known[state.Path] = s
		}
		online := state.Status == acquisition.Online
		switch {
		case online && (!s.online || !s.Back.Equal(state.Since)):
			s.Back, s.due = state.Since, w.Now()
		case !online && s.online:
			s.Lost = s.Back
			if state.Status == acquisition.Offline || state.Status == acquisition.Hung {
				s.Lost = state.Since
			}
		}
		s.online = online
	}
}

// begin starts the jobs that are due, as many as fit.
func (w *Watch) begin(ctx context.Context, jobs *errgroup.Group, done chan<- ended) {
	now := w.Now()
	for _, c := range w.Fleet.Configs() {
		s := w.known[c.Path]
		if s == nil || s.busy || !s.online || s.due.IsZero() || s.due.After(now) {
			continue
		}
		away := s.Absence
		started := jobs.TryGo(func() error {
			e := ended{c.Path, away.Back, w.Do(ctx, c, away)}
			select {
			case done <- e:
			case <-ctx.Done():
			}
			return nil
		})
		if !started {
			return
		}
		s.busy = true
	}
}

// end notes how a job ended: what failed is tried again.
func (w *Watch) end(ctx context.Context, e ended) {
	s := w.known[e.path]
	s.busy = false
	switch {
	case !s.Back.Equal(e.back): // it was away again meanwhile: due says when it is tried
	case e.err != nil:
		s.due = w.Now().Add(again)
		w.Log.WarnContext(ctx, "something is not done for a device that is back, and is tried again",
			slog.String("task", w.Task), slog.String("device", string(e.path)), slog.Any("err", e.err))
	default:
		s.due, s.Lost = time.Time{}, time.Time{}
		if w.Repeat > 0 {
			s.due = w.Now().Add(w.Repeat)
		}
	}
}
