// Package turn lets those who want the same thing come one after another.
package turn

import (
	"context"
	"sync"
)

// Turns knows who is at what. The zero value is ready; it is safe for concurrent use.
type Turns[K comparable] struct {
	mu      sync.Mutex
	running map[K]chan struct{} // closed at the end
}

// Enter waits until nobody else is at the thing, or ctx ends, which it then reports. Call leave in
// the end.
func (t *Turns[K]) Enter(ctx context.Context, thing K) (leave func(), err error) {
	for {
		t.mu.Lock()
		if t.running == nil {
			t.running = map[K]chan struct{}{}
		}
		other, busy := t.running[thing]
		if !busy {
			mine := make(chan struct{})
			t.running[thing] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.running, thing)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
