package kernel

// queue is a heap of events, the next one first.
type queue []*Event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	return q[i].At < q[j].At || q[i].At == q[j].At && q[i].Order < q[j].Order
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is for package container/heap.
func (q *queue) Push(e any) { *q = append(*q, e.(*Event)) }

// Pop is for package container/heap.
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
