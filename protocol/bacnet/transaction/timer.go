package transaction

import (
	"container/heap"
	"time"
)

// timer is a deadline of a transaction. It is in a queue while at is set.
type timer[T any] struct {
	at    time.Time
	index int
	owner T
}

// queue has the deadlines in order.
type queue[T any] []*timer[T]

func (q queue[T]) Len() int           { return len(q) }
func (q queue[T]) Less(i, j int) bool { return q[i].at.Before(q[j].at) }

func (q queue[T]) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

// Push is for container/heap.
func (q *queue[T]) Push(x any) {
	t := x.(*timer[T]) // nothing else is pushed
	t.index = len(*q)
	*q = append(*q, t)
}

// Pop is for container/heap.
func (q *queue[T]) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return t
}

func (q *queue[T]) set(t *timer[T], at time.Time) {
	if t.at.IsZero() {
		t.at = at
		heap.Push(q, t)
		return
	}
	t.at = at
	heap.Fix(q, t.index)
}

func (q *queue[T]) stop(t *timer[T]) {
	if !t.at.IsZero() {
		heap.Remove(q, t.index)
		t.at = time.Time{}
	}
}

// next returns the first deadline, the zero time if there is none.
func (q queue[T]) next() time.Time {
	if len(q) == 0 {
		return time.Time{}
	}
	return q[0].at
}

// due takes out a timer that has expired, nil if none has.
func (q *queue[T]) due(now time.Time) *timer[T] {
	if len(*q) == 0 || now.Before((*q)[0].at) {
		return nil
	}
	t := (*q)[0]
	q.stop(t)
	return t
}
