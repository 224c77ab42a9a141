package device

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, like that of context.WithDeadline, or with another one,
// but takes a timer and tells its parents of itself only when somebody waits for its end. Most reads do not: drivers give the time to their socket.
// With ten thousand lines that are read at the same moment this is a quarter of the owner's work.
type deadline struct {
	context.Context //nolint:containedctx // it is a context, and this is its parent

	at    time.Time       // zero: when the parent does
	other context.Context //nolint:containedctx // ends it too; nil for none

	mu    sync.Mutex
	ended bool
	armed context.Context //nolint:containedctx // what it is from the moment that somebody waits
	stop  context.CancelFunc
}

func newDeadline(parent context.Context, limit time.Duration) *deadline {
	return &deadline{Context: parent, at: time.Now().Add(limit)}
}

// newJoint returns a context that ends with each of two, and has the values of the first.
func newJoint(parent, other context.Context) *deadline {
	return &deadline{Context: parent, other: other}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
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
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err implements context.Context.
func (d *deadline) Err() error {
	switch {
	case !d.lives(), d.Context.Err() != nil, d.other != nil && d.other.Err() != nil, !d.at.IsZero() && !time.Now().Before(d.at):
		return d.arm().Err()
	}
	return nil
}

// Value implements context.Context.
func (d *deadline) Value(key any) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.armed != nil {
		return d.armed.Value(key)
	}
	return d.Context.Value(key)
}

func (d *deadline) lives() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.armed == nil && !d.ended
}

// arm returns a context of the standard library that ends when d does.
func (d *deadline) arm() context.Context {
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

// end releases it, and ends it for whoever has kept it.
func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.stop != nil {
		d.stop()
	}
}
