package store

// hour in microseconds.
const hour = int64(3_600_000_000)

// Tally counts the samples of one point for Store.Count.
type Tally struct {
	from, to, step int64 // microseconds
	counts         []uint32
	steps          int
}

// NewTally returns a Tally for the steps of the query, which was checked.
func NewTally(q *Query) *Tally {
	return &Tally{from: q.From.UnixMicro(), to: q.To.UnixMicro(), step: q.Step.Microseconds(), steps: q.Steps()}
}

// Add counts n samples at a time, in microseconds since 1970. Times outside the range are ignored.
func (t *Tally) Add(micros int64, n uint32) {
	if micros < t.from || micros >= t.to {
		return
	}
	if t.counts == nil {
		t.counts = make([]uint32, t.steps)
	}
	t.counts[(micros-t.from)/t.step] += n
}

// Hourly reports whether range and steps consist of whole UTC hours.
func (t *Tally) Hourly() bool { return t.from%hour == 0 && t.to%hour == 0 && t.step%hour == 0 }

// Counts returns the counts, nil if there are none.
func (t *Tally) Counts() []uint32 { return t.counts }

// Steps is how many steps the range has; the last may be shorter.
func (q *Query) Steps() int {
	span, step := q.To.UnixMicro()-q.From.UnixMicro(), max(1, q.Step.Microseconds())
	return int((span + step - 1) / step)
}
