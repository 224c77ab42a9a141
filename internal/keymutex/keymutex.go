// Package keymutex provides one mutex per key: callers with the same key exclude each other, callers with different keys do not.
package keymutex

import (
	"context"
	"sync"
)

// Mutex is a mutual exclusion lock for each key. The zero value is unlocked; it is safe for concurrent use.
type Mutex[K comparable] struct {
	mu   sync.Mutex
	held map[K]chan struct{} // closed by unlock
}

// Lock waits until it holds the key's lock, or ctx ends, whose error it then returns. The caller calls unlock once.
func (m *Mutex[K]) Lock(ctx context.Context, key K) (unlock func(), err error) {
	for {
		m.mu.Lock()
		if m.held == nil {
			m.held = map[K]chan struct{}{}
		}
		other, held := m.held[key]
		if !held {
			mine := make(chan struct{})
			m.held[key] = mine
			m.mu.Unlock()
			return func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.held, key)
				close(mine)
			}, nil
		}
		m.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
