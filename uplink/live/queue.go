package live

import (
	"sync"
	"time"
)

// Bounds of what is queued for a link. Excess or old messages are dropped: live messages are about the present.
const (
	maxQueued  = 8 << 20         // bytes
	maxWaiting = 1 << 16         // messages
	maxAge     = 2 * time.Second // of an unsent message
)

// queue holds messages for a link. A message that does not fit displaces the oldest. It is safe for concurrent use.
type queue struct {
	mu     sync.Mutex
	items  []queued // from head on
	head   int
	octets int
	lost   uint64
}

// queued is a message in this node's form, and how it is sent.
type queued struct {
	message Message
	plan    *plan
	came    time.Time
}

// push never blocks. first reports whether the queue was empty.
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

// pop removes the oldest message. The caller holds mu.
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

// clear drops all queued messages, which are no longer wanted.
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

// dropped returns the number of dropped messages.
func (q *queue) dropped() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lost
}
