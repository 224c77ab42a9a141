// Package deadline keeps deadlines in order, for state machines that receive the current time as an argument.
package deadline

import (
	"container/heap"
	"time"
)

// Timer is a deadline of its owner. The zero value with an owner is ready, in no queue.
type Timer[T any] struct {
	Owner T

	at    time.Time // zero: in no queue
	index int
}

// Queue has timers in order. The zero value is empty. It is used by one goroutine at a time.
type Queue[T any] struct{ timers timers[T] }

type timers[T any] []*Timer[T]

func (q timers[T]) Len() int           { return len(q) }
func (q timers[T]) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

func (q timers[T]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for container/heap.
func (q *timers[T]) Push(x any) {
	t := x.(*Timer[T]) // nothing else is pushed
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop is for container/heap.
func (q *timers[T]) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}

// Set puts a timer in the queue, or moves it.
func (q *Queue[T]) Set(t *Timer[T], at time.Time) {
	if t.at.IsZero() {
		t.at = at
		heap.Push(&q.timers, t)
		return
	}
	t.at = at
	heap.Fix(&q.timers, t.index)
}

// Stop takes a timer out of the queue, if it is there.
func (q *Queue[T]) Stop(t *Timer[T]) {
	if !t.at.IsZero() {
		heap.Remove(&q.timers, t.index)
		t.at = time.Time{}
	}
}

// Next returns the first deadline, the zero time if there is none.
func (q *Queue[T]) Next() time.Time {
	if len(q.timers) == 0 {
		return time.Time{}
	}
	return q.timers[0].at
}

// Due takes out a timer that has expired at now; nil if none has.
func (q *Queue[T]) Due(now time.Time) *Timer[T] {
	if len(q.timers) == 0 || now.Before(q.timers[0].at) {
		return nil
	}
	t := q.timers[0]
	q.Stop(t)
	return t
}

// Earlier returns the earlier of two deadlines, of which the zero time means none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
