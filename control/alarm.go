package control

import "container/heap"

// alarm is the one moment at which its owner wants to be called. The zero alarm is not set.
type alarm struct {
	at    int64  // nanoseconds on the clock of its queue
	order uint64 // of setting, among equal moments
	place int    // in the queue, from 1; 0 if it is not set
	owner ringer
}

// ringer is called when its alarm came; it is not set any more then.
type ringer interface{ ring(m *Model) }

// alarms is a heap of set alarms.
type alarms struct {
	list []*alarm
	last uint64
}

// set makes a ring at the moment.
func (q *alarms) set(a *alarm, owner ringer, at int64) {
	q.last++
	a.at, a.order, a.owner = at, q.last, owner
	if a.place > 0 {
		heap.Fix(q, a.place-1)
		return
	}
	heap.Push(q, a)
}

// stop unsets a.
func (q *alarms) stop(a *alarm) {
	if a.place > 0 {
		heap.Remove(q, a.place-1)
	}
}

// due takes the first alarm that is due, or nil.
func (q *alarms) due(now int64) *alarm {
	if len(q.list) == 0 || q.list[0].at > now {
		return nil
	}
	a := q.list[0]
	heap.Remove(q, 0)
	return a
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q *alarms) Len() int { return len(q.list) }

func (q *alarms) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.at < b.at || a.at == b.at && a.order < b.order
}

func (q *alarms) Swap(i, j int) {
	q.list[i], q.list[j] = q.list[j], q.list[i]
	q.list[i].place, q.list[j].place = i+1, j+1
}

func (q *alarms) Push(x any) {
	a, ok := x.(*alarm)
	if !ok {
		return
	}
	q.list = append(q.list, a)
	a.place = len(q.list)
}

func (q *alarms) Pop() any {
	last := len(q.list) - 1
	a := q.list[last]
	q.list[last] = nil
	q.list = q.list[:last]
	a.place = 0
	return a
}
