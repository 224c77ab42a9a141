// Package feed gives a gateway the values of points of a node, over its API: first the newest ones and then every change, and again from the
// start when the node was away.
package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/point"
)

const (
	refresh = 30 * time.Second // interval of requests for all newest values, in addition to the stream
	batch   = 50               // points per request

	mostBetween = 10_000          // samples of a point between two requests
	pause       = 2 * time.Second // before retrying a node that did not answer, or points that the stream does not deliver
)

// Node is the source of the points; *client.Client implements it.
type Node interface {
	Latest(ctx context.Context, s client.Span) (answer.Latest, error)
	Range(ctx context.Context, s client.Span, limit int, newest bool) (answer.Range, error)
	Points(ctx context.Context, f client.Filter) (answer.Points, error)
	Follow(ctx context.Context, want client.Live, emit func(json.RawMessage) error) error
}

// Config says what a feed is for. The functions are called by the goroutines of Run, and must not block.
type Config struct {
	Node   Node
	Points []point.Path // each once
	// Show takes values of the points, in time order for each point. A value may come twice.
	Show func([]point.Sample)
	// Lost is told that the node does not answer; Show is called when it does again.
	Lost func()
	// Between has Show also called with the values between two that the stream did not deliver, from the history.
	Between bool
	// Control, if it is not nil, is called with each event of control that may concern the points.
	Control func(answer.ControlEvent)
	Log     *slog.Logger
}

// Feed follows points. New starts nothing; Run does the work.
type Feed struct {
	config  Config
	points  map[point.Path]bool
	pattern string // for live messages about these points

	shown  map[point.Path]time.Time // of the newest value requested; owned by Run
	absent map[point.Path]bool      // points that the node does not have, which was reported to the operator; owned by Run, and by Missing before it

	mu    sync.Mutex
	heard map[point.Path]bool // points recently delivered by the stream
}

var errEnded = errors.New("the stream of live values has ended")

// New returns a feed.
func New(c Config) *Feed {
	f := &Feed{
		config: c, points: make(map[point.Path]bool), heard: make(map[point.Path]bool), shown: make(map[point.Path]time.Time),
		absent: make(map[point.Path]bool), pattern: Common(c.Points),
	}
	for _, path := range c.Points {
		f.points[path] = true
	}
	return f
}

// Run follows the node until ctx ends, and starts over when it does not answer.
func (f *Feed) Run(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := f.followOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > refresh {
			failures = 0 // it has answered for a while
		}
		if failures++; failures&(failures-1) == 0 {
			f.config.Log.WarnContext(ctx, "the node does not give its points", slog.Int("count", failures), slog.Any("err", err))
		}
		f.config.Lost()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// followOnce receives the newest values and every change, until the node no longer delivers either. It
// requests all values at the start, because the stream carries only changes, and now and then during the
// stream; those that the stream does not deliver are requested repeatedly.
func (f *Feed) followOnce(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel(nil)
	following.Go(func() { cancel(cmp.Or(f.follow(ctx), errEnded)) })
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	f.forget()
	paths, all := f.all(), true
	for tick := 1; ; tick++ {
		if err := f.ask(ctx, paths, all); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if paths, all = f.unheard(), tick%int(refresh/pause) == 0; all {
			paths = f.all()
		}
	}
}

// all returns the paths of all points.
func (f *Feed) all() []string {
	paths := make([]string, 0, len(f.points))
	for path := range f.points {
		paths = append(paths, string(path))
	}
	return paths
}
