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

// History is where samples are kept.
type History struct {
	// Read calls emit with the recorded samples of a point that are not bad, in the order of their times; nil for a node that
	// keeps none itself.
	Read func(ctx context.Context, p point.Path, from, to time.Time, emit func([]point.Sample) error) error
	// Record keeps samples, and returns when they are on disk.
	Record func(ctx context.Context, samples []point.Sample) error
}

// Options are what recovery is done with.
type Options struct {
	History

	Fleet Fleet
	Log   *slog.Logger
	Now   func() time.Time
}

// Bounds of the work.
const (
	lookEvery = time.Second
	again     = time.Minute // after something went wrong
	together  = 8           // devices that are asked at once
)

// Recovery watches which devices return. Run does the work.
type Recovery struct {
	o     Options
	known map[point.Path]*status
}

// status is what is known of a device. Run's goroutine owns it; one job of the device at most is under way.
type status struct {
	online bool
	since  time.Time // of online
	lost   time.Time // since when it was away, as far as it was seen; zero if it was not
	due    time.Time // of a job that is to be done; zero: none
	busy   bool
}

// New returns a recovery, which does nothing before Run.
func New(o Options) *Recovery { return &Recovery{o: o, known: make(map[point.Path]*status)} }

// ended is how a job ended.
type ended struct {
	path  point.Path
	since time.Time
	err   error
}

// Run looks after the devices until ctx ends, and returns nil.
func (r *Recovery) Run(ctx context.Context) error {
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
			r.end(e)
			r.begin(ctx, &jobs, done)
		case <-ticker.C:
			r.look()
			r.begin(ctx, &jobs, done)
		}
	}
}

// look notes which devices are away, and which are back.
func (r *Recovery) look() {
	for _, state := range r.o.Fleet.Devices() {
		s := r.known[state.Path]
		if s == nil {
			s = &status{}
			r.known[state.Path] = s
		}
		online := state.Status == acquisition.Online
		switch {
		case online && (!s.online || !s.since.Equal(state.Since)):
			s.since, s.due = state.Since, r.o.Now()
		case !online && s.online:
			s.lost = s.since
			if state.Status == acquisition.Offline || state.Status == acquisition.Hung {
				s.lost = state.Since
			}
		}
		s.online = online
	}
}

// begin starts the jobs that are due, as many as fit.
func (r *Recovery) begin(ctx context.Context, jobs *errgroup.Group, done chan<- ended) {
	now := r.o.Now()
	for _, c := range r.o.Fleet.Configs() {
		s := r.known[c.Path]
		if s == nil || s.busy || !s.online || s.due.IsZero() || s.due.After(now) {
			continue
		}
		f := fill{Options: &r.o, device: c, lost: s.lost, back: s.since}
		since := s.since
		started := jobs.TryGo(func() error {
			e := ended{c.Path, since, f.run(ctx)}
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
func (r *Recovery) end(e ended) {
	s := r.known[e.path]
	s.busy = false
	switch {
	case !s.since.Equal(e.since): // it was away again meanwhile: due says when it is tried
	case e.err != nil:
		s.due = r.o.Now().Add(again)
		r.o.Log.Warn("gaps of a device are not filled, and are tried again", slog.String("device", string(e.path)), slog.Any("err", e.err))
	default:
		s.due, s.lost = time.Time{}, time.Time{}
	}
}
