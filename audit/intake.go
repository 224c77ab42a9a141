package audit

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"time"

	"voltbus/audit/allowance"
	"voltbus/fault"
)

const (
	maxBatch   = 4096 // entries of one transaction, unless one Append has more
	maxOffered = 4096 // entries of Offer that may be pending
)

// item is what one caller writes, all in one transaction.
type item struct {
	entries []Entry
	offered bool
	change  func(*sql.Tx) error // a change in the same transaction; nil for none
	done    chan struct{}       // closed when err is set
	err     error
}

var errClosed = errors.New("the audit log is closed")

// intake is the queue of entries to write. It is safe for concurrent use.
type intake struct {
	now  func() time.Time
	news chan struct{} // Offer has added an entry

	mu       sync.Mutex
	queue    []*item
	waiting  int    // entries of Offer in queue
	dropped  uint64 // dropped entries of Offer not yet recorded in the log
	lost     uint64 // entries of Offer that could not be written, since Open
	closed   bool
	gathered map[kind]*gathering
	allowed  allowance.Actors
}

func newIntake(now func() time.Time) *intake {
	return &intake{now: now, news: make(chan struct{}, 1), gathered: map[kind]*gathering{}, allowed: allowance.Actors{}}
}

func (q *intake) put(it *item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fault.E("audit.Append", fault.Unavailable, File, errClosed)
	}
	q.queue = append(q.queue, it)
	return nil
}

// Offer queues an entry that Run writes soon. It never waits. Entries beyond the actor's allowance (200 entries or
// 256 KiB at once, then one entry or 1 KiB a second), and entries that find no room, are counted as by Gather: one
// entry a minute for each action of the actor, with the number and the last of them. Entries are lost only when
// the disk fails: an entry "audit.dropped" tells how many.
func (q *intake) Offer(e Entry) {
	e.name()
	e.tidy(q.now())
	q.mu.Lock()
	defer q.mu.Unlock()
	q.offer(e)
}

// offer is Offer for a tidy entry. The caller holds mu.
func (q *intake) offer(e Entry) {
	switch {
	case q.closed:
		q.dropped++
		q.lost++
	case e.Actor != self && !q.allowed.Allow(e.Actor, e.size(), q.now()):
		q.hold(e)
	case q.waiting >= maxOffered, q.waiting >= maxOffered/2 && e.Actor != self && !strings.HasPrefix(e.Actor, "person:"):
		q.hold(e)
	default:
		q.enqueue(e)
	}
}

// enqueue queues an entry for Run. The caller holds mu.
func (q *intake) enqueue(e Entry) {
	q.waiting++
	q.queue = append(q.queue, &item{entries: []Entry{e}, offered: true, done: make(chan struct{})})
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// next takes the next items off the queue, and the number of lost entries that the log does not mention yet.
func (q *intake) next() (batch []*item, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	entries, n := 0, 0
	for n < len(q.queue) && entries < maxBatch {
		entries += len(q.queue[n].entries)
		if q.queue[n].offered {
			q.waiting--
		}
		n++
	}
	batch = q.queue[:n:n]
	if q.queue = q.queue[n:]; len(q.queue) == 0 {
		q.queue = nil
	}
	return batch, q.dropped
}

// settle gives the waiting callers of a batch its outcome. dropped is the number of dropped entries that it recorded.
func (q *intake) settle(batch []*item, dropped uint64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.dropped -= dropped
	}
	for _, it := range batch {
		if err != nil && it.offered {
			q.dropped++
			q.lost++
		}
		it.err = err
		close(it.done)
	}
}

// close stops accepting entries, and reports whether it was already closed.
func (q *intake) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.closed
	q.closed = true
	return before
}

// isClosed reports whether the intake is closed.
func (q *intake) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// size is the approximate size of an entry in the file.
func (e *Entry) size() int {
	return len(e.Actor) + len(e.Action) + len(e.Subject) + len(e.Outcome) + len(e.Detail) + 64
}
