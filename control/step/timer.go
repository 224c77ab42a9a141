package step

import "container/heap"

// Timer is the one moment at which its owner wants to be called. The zero Timer is not set.
type Timer struct {
	at    int64  // nanoseconds on its queue's clock
	order uint64 // order of setting, among equal moments
	place int    // position in the queue, from 1; 0 if not set
	owner Owner
}

// Owner is called when its timer is due; the timer is then no longer set.
type Owner interface{ Due() }

// IsSet reports whether the timer is set.
func (t *Timer) IsSet() bool { return t.place > 0 }

// At returns the moment of a timer that is set, in nanoseconds on the clock of its queue.
func (t *Timer) At() int64 { return t.at }

// Queue is a heap of the timers set on one clock.
type Queue struct {
	list []*Timer
	last uint64
}

// Set sets the timer to call its owner at a moment.
func (q *Queue) Set(t *Timer, owner Owner, at int64) {
	q.last++
	t.at, t.order, t.owner = at, q.last, owner
	if t.place > 0 {
		heap.Fix((*timers)(q), t.place-1)
		return
	}
	heap.Push((*timers)(q), t)
}

// Stop unsets a timer.
func (q *Queue) Stop(t *Timer) {
	if t.place > 0 {
		heap.Remove((*timers)(q), t.place-1)
	}
}

// Len returns the number of timers set.
func (q *Queue) Len() int { return len(q.list) }

// first returns the moment of the first timer; false if none is set.
func (q *Queue) first() (at int64, ok bool) {
	if len(q.list) == 0 {
		return 0, false
	}
	return q.list[0].at, true
}

// due removes and returns the first timer that is due, or nil.
func (q *Queue) due(now int64) *Timer {
	if len(q.list) == 0 || q.list[0].at > now {
		return nil
	}
	t := q.list[0]
	heap.Remove((*timers)(q), 0)
	return t
}

// timers implements heap.Interface for a Queue.
type timers Queue

func (q *timers) Len() int { return len(q.list) }

func (q *timers) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *timers) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	q.list[i].place, q.list[j].place = i+1, j+1
}

func (q *timers) Push(x any) {
	t, ok := x.(*Timer)
	if !ok {
		return
	}
	q.list = append(q.list, t)
	t.place = len(q.list)
}

func (q *timers) Pop() any {
	last := len(q.list) - 1
	t := q.list[last]
	q.list[last] = nil
	q.list = q.list[:last]
	t.place = 0
	return t
}
