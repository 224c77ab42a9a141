package live

import (
	"sync"
	"time"
)

// The bounds of what waits for a link. What is too much, or too old, is lost: live messages say what is now.
const (
	maxQueued  = 8 << 20         // bytes
	maxWaiting = 1 << 16         // messages
	maxAge     = 2 * time.Second // of a message that did not go yet
)

// queue holds messages for a link. What does not fit drops the oldest. It is safe for concurrent use.
type queue struct {
	mu     sync.Mutex
	items  []queued // from head on
	head   int
	octets int
	lost   uint64
}

// queued is a message as this node has it, and how it goes.
type queued struct {
	message Message
	plan    *plan
	came    time.Time
}

// push never waits. first reports whether nothing was there.
func (q *queue) push(m queued) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.head == len(q.items)
	q.items = append(q.items, m)
	q.octets += m.message.octets()
	for q.octets > maxQueued || len(q.items)-q.head > maxWaiting {
		q.pop()
		q.lost++
	}
	return first
}

// pop takes the oldest out. The caller holds mu.
func (q *queue) pop() queued {
	m := q.items[q.head]
	q.items[q.head] = queued{}
	q.octets -= m.message.octets()
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head > maxWaiting {
		q.items, q.head = append(q.items[:0], q.items[q.head:]...), 0
	}
	return m
}

// take returns the oldest message that is not too old.
func (q *queue) take(now time.Time) (queued, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head < len(q.items) {
		m := q.pop()
		if now.Sub(m.came) <= maxAge {
			return m, true
		}
		q.lost++
	}
	return queued{}, false
}

// clear forgets all that waits, which nobody wants any more.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.items)
	q.items, q.head, q.octets = q.items[:0], 0, 0
}

func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.head == len(q.items)
}

// dropped returns how many messages were lost.
func (q *queue) dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}
