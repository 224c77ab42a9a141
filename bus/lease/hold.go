package lease

import (
	"context"
	"sync"
	"time"
)

// Hold is the right to use an item. It is a context that ends when the right does, for good: who gets the item again gets another Hold.
// Err looks at the clock itself, so that a process that was stopped for a while finds out before its timers run.
type Hold struct {
	leases *Leases
	epoch  uint64
	done   chan struct{}
	once   sync.Once
}

var _ context.Context = (*Hold)(nil)

func newHold(l *Leases, epoch uint64) *Hold {
	return &Hold{leases: l, epoch: epoch, done: make(chan struct{})}
}

// Epoch grows with each change of the owner.
func (h *Hold) Epoch() uint64 { return h.epoch }

// Deadline implements context.Context: the right is prolonged again and again, so there is none.
func (h *Hold) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done implements context.Context.
func (h *Hold) Done() <-chan struct{} { return h.done }

// Err returns nil while the item may be used, and context.Canceled afterwards.
func (h *Hold) Err() error {
	select {
	case <-h.done:
		return context.Canceled
	default:
	}
	if h.leases.lapsed() {
		h.end()
		return context.Canceled
	}
	return nil
}

// Left returns how long the right lasts if it is not renewed; 0 after its end.
func (h *Hold) Left() time.Duration {
	if h.Err() != nil {
		return 0
	}
	return max(h.leases.left(), 0)
}

// Value implements context.Context.
func (h *Hold) Value(any) any { return nil }

func (h *Hold) end() { h.once.Do(func() { close(h.done) }) }
