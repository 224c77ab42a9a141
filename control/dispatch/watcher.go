package dispatch

import (
	"slices"
	"sync"
	"sync/atomic"

	"voltbus/control"
)

// Watcher receives the events of control: commands, writes and their outcomes, windows, overrides.
type Watcher struct {
	// C delivers the events of one turn at a time, in order, and is closed when the dispatcher stops or Close
	// is called. The events are shared: receivers must not modify them.
	C       <-chan []control.Event
	c       chan []control.Event
	dropped atomic.Uint64
	of      *Watchers
}

// Dropped counts events that this watcher missed because it was too slow.
func (w *Watcher) Dropped() uint64 { return w.dropped.Load() }

// Close ends the watching.
func (w *Watcher) Close() { w.of.remove(w) }

// Watchers are the watchers of a dispatcher, or of several that take turns. The zero value has none. It is safe for concurrent use.
type Watchers struct {
	mu   sync.Mutex
	list []*Watcher
	over bool
}

// Add returns a watcher, see Dispatcher.Watch.
func (s *Watchers) Add(buffer int) *Watcher {
	c := make(chan []control.Event, buffer)
	w := &Watcher{C: c, c: c, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		close(c)
		return w
	}
	s.list = append(s.list, w)
	return w
}

func (s *Watchers) remove(w *Watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.list, w); i >= 0 {
		s.list = slices.Delete(s.list, i, i+1)
		close(w.c)
	}
}

func (s *Watchers) notify(events []control.Event) {
	if len(events) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.list {
		select {
		case w.c <- events:
		default:
			w.dropped.Add(uint64(len(events)))
		}
	}
}

// Close ends the watching of all.
func (s *Watchers) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.list {
		close(w.c)
	}
	s.list, s.over = nil, true
}
