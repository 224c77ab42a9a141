// Package keeper commands points by the schedules of a node. Schedules and calendars are shared documents, with their history, below
// schedules/ and calendars/.
package keeper

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"voltbus/document"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/schedule"
)

// Documents keep the schedules and calendars. See document.Store.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
}

// Order is what a schedule commands.
type Order struct {
	Schedule string
	// ID begins the identifiers of the commands. An order that is given again, after a restart or by another replica, has the same one, so
	// that control carries it out once.
	ID     string
	Level  int
	Points []string
	Value  point.Value
	Reason string
}

// Held is a command that a schedule holds.
type Held struct {
	Schedule string
	Point    string
	Level    int
}

// Problem is a point that cannot be commanded, and why.
type Problem struct{ Point, Text string }

// Commander commands points in the name of schedules.
type Commander interface {
	// Set commands points, and says which of them it could not.
	Set(ctx context.Context, o *Order) ([]Problem, error)
	Release(ctx context.Context, list []Held) error
	Held(ctx context.Context) ([]Held, error)
}

// Options are what a keeper needs.
type Options struct {
	Documents Documents
	Commander Commander
	// Raise opens, changes or closes the alert of a key.
	Raise func(key string, message []byte) error
	Now   func() time.Time
	Log   *slog.Logger
}

// Keeper commands points by schedules. It is safe for concurrent use.
type Keeper struct {
	o    Options
	wake chan struct{} // documents have changed

	loading sync.Mutex // documents are read by one goroutine at a time

	mu        sync.Mutex
	schedules map[string]*kept     // by name
	calendars map[string]*calendar // by name
	tidied    bool                 // nothing is held that no schedule wants
	told      *string              // the alert; nil before the first
}

// kept is a schedule with the version of its document.
type kept struct {
	schedule schedule.Schedule
	unread   error          // its document cannot be read
	plan     *schedule.Plan // nil if it is wrong
	wrong    error          // why there is no plan
	version  int
	by       string

	state
}

// state is what a schedule has done.
type state struct {
	done     bool // value has been commanded
	value    point.Value
	problems []Problem
	again    time.Time // when what failed is tried again

	sought time.Time // when next was looked for
	next   *schedule.Change
}

// coming returns the next change of a schedule with a plan; nil for none. The caller holds mu.
func (s *kept) coming(now time.Time) *schedule.Change {
	fresh := !s.sought.IsZero() && !now.Before(s.sought)
	if s.next != nil {
		fresh = fresh && now.Before(s.next.Time)
	} else {
		fresh = fresh && now.Before(s.sought.Add(day))
	}
	if !fresh {
		s.next, s.sought = nil, now
		if change, more := s.plan.Next(now); more {
			s.next = &change
		}
	}
	return s.next
}

const day = 24 * time.Hour

type calendar struct {
	calendar schedule.Calendar
	wrong    error
	version  int
	by       string
}

// New returns a keeper. It starts nothing.
func New(o Options) *Keeper {
	return &Keeper{o: o, wake: make(chan struct{}, 1), schedules: map[string]*kept{}, calendars: map[string]*calendar{}}
}

const (
	// look is how often the clock is looked at: it may have been set.
	look = 10 * time.Second
	// pause is the time between two attempts to command what failed.
	pause = time.Minute
)

// Run commands points until ctx ends, and returns nil. What is commanded stays, as a command of control does.
func (k *Keeper) Run(ctx context.Context) error {
	k.signal()
	timer := time.NewTimer(look)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.wake:
			if err := k.load(ctx); err != nil && ctx.Err() == nil {
				k.o.Log.WarnContext(ctx, "schedules cannot be read", slog.Any("err", err))
			}
		case <-timer.C:
		}
		timer.Reset(k.act(ctx))
	}
}

func (k *Keeper) signal() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// act commands what holds now, and returns how long nothing else is to be done.
func (k *Keeper) act(ctx context.Context) time.Duration {
	now := k.o.Now()
	next := now.Add(look)
	for _, s := range k.list() {
		if at := k.keep(ctx, s, now); at.Before(next) {
			next = at
		}
	}
	k.tidy(ctx)
	k.tell(ctx)
	return max(next.Sub(k.o.Now()), time.Millisecond)
}

func (k *Keeper) list() []*kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]*kept, 0, len(k.schedules))
	for _, s := range k.schedules {
		if s.plan != nil {
			list = append(list, s)
		}
	}
	return list
}

// keep commands what a schedule says now, unless it has been done, and returns when it is to be looked at again.
func (k *Keeper) keep(ctx context.Context, s *kept, now time.Time) time.Time {
	holds := s.plan.At(now)
	next := now.Add(look)
	k.mu.Lock()
	if change := s.coming(now); change != nil {
		next = change.Time
	}
	due := !s.done || s.value != holds.Value || len(s.problems) > 0 && !now.Before(s.again)
	k.mu.Unlock()
	if !due {
		return next
	}
	problems, err := k.command(ctx, s, &holds)
	if ctx.Err() != nil || fault.Is(err, fault.Unavailable) { // nobody controls at this moment: soon somebody does
		return now.Add(look)
	}
	if err != nil {
		problems = []Problem{{Text: err.Error()}}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tidied = k.tidied && holds.Value.Kind() != point.None
	s.done, s.value, s.problems, s.again = true, holds.Value, problems, now.Add(pause)
	return next
}

// command commands what holds; if that is nothing, tidy releases what was commanded.
func (k *Keeper) command(ctx context.Context, s *kept, holds *schedule.Change) ([]Problem, error) {
	if holds.Value.Kind() == point.None {
		return nil, nil
	}
	return k.o.Commander.Set(ctx, &Order{
		Schedule: s.schedule.Name, ID: identifier(s.version, holds.Time), Level: levelOf(&s.schedule), Points: s.schedule.Points, Value: holds.Value,
		Reason: "schedule " + s.schedule.Name + ": " + holds.Why,
	})
}

func levelOf(s *schedule.Schedule) int {
	if s.Level == 0 {
		return schedule.DefaultLevel
	}
	return s.Level
}

// tidy ends the commands that no schedule wants: of schedules that were deleted, of points and levels that they no longer have, and of those
// that command nothing now.
func (k *Keeper) tidy(ctx context.Context) {
	k.mu.Lock()
	tidied := k.tidied
	k.mu.Unlock()
	if tidied {
		return
	}
	held, err := k.o.Commander.Held(ctx)
	var gone []Held
	for _, h := range held {
		if !k.wants(&h) {
			gone = append(gone, h)
		}
	}
	if err == nil && len(gone) > 0 {
		err = k.o.Commander.Release(ctx, gone)
	}
	if err != nil {
		if ctx.Err() == nil && !fault.Is(err, fault.Unavailable) {
			k.o.Log.WarnContext(ctx, "commands of schedules cannot be ended; it is tried again", slog.Any("err", err))
		}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tidied = true
}
