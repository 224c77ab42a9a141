package device

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time, like that of context.WithDeadline, but takes a timer
// only when somebody waits for its end. Most reads do not: drivers give the time to their socket.
// With ten thousand lines that are read at the same moment this is a quarter of the owner's work.
type deadline struct {
	context.Context //nolint:containedctx // it is a context, and this is its parent

	at time.Time

	mu    sync.Mutex
	ended bool
	armed context.Context //nolint:containedctx // what it is from the moment that somebody waits
	stop  context.CancelFunc
}

func newDeadline(parent context.Context, limit time.Duration) *deadline {
	return &deadline{Context: parent, at: time.Now().Add(limit)}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err implements context.Context.
func (d *deadline) Err() error {
	if d.lives() && d.Context.Err() == nil && time.Now().Before(d.at) {
		return nil
	}
	return d.arm().Err()
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
	if d.armed == nil {
		d.armed, d.stop = context.WithDeadline(d.Context, d.at)
		if d.ended {
			d.stop()
		}
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
