package recorder

import (
	"context"

	"voltbus/point"
)

// lane is one sequence of the node's own blocks, with its own numbers.
type lane struct {
	origin string

	open  *batch   // guarded by Recorder.mu, as is stats
	last  *receipt // likewise: of the latest block begun
	stats Stats

	// Used only by the writer.
	stored   Position // position of everything on disk
	sequence uint64   // of the last block numbered
	samples  uint64   // in all blocks numbered
	silent   int      // bytes of other origins after the last block
}

func newLane(origin string, p Position) *lane {
	return &lane{
		origin: origin, stored: p, sequence: p.Sequence, samples: p.Samples,
		stats: Stats{
			Origin: origin, Produced: p.Samples + p.Refused, Acknowledged: p.Samples,
			Refused: p.Refused, Sequence: p.Sequence,
		},
	}
}

// lanes returns all lanes.
func (r *Recorder) lanes() []*lane {
	if r.urgent == nil {
		return []*lane{r.lane}
	}
	return []*lane{r.lane, r.urgent}
}

// divide returns the samples of urgent points, and the others. Both keep their order.
func (r *Recorder) divide(samples []point.Sample) (urgent, rest []point.Sample) {
	if len(r.cfg.Urgent) == 0 {
		return nil, samples
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for i := range samples {
		if r.urgents.of(samples[i].Point) {
			n++
		}
	}
	switch n {
	case 0:
		return nil, samples
	case len(samples):
		return samples, nil
	}
	urgent, rest = make([]point.Sample, 0, n), make([]point.Sample, 0, len(samples)-n)
	for i := range samples {
		if r.urgents.of(samples[i].Point) {
			urgent = append(urgent, samples[i])
		} else {
			rest = append(rest, samples[i])
		}
	}
	return urgent, rest
}

// batch is a block on its way to the disk. One of an own lane is reused afterwards.
type batch struct {
	lane    *lane    // nil for a block of another origin
	origin  string   // whose block it is
	behind  Position // position of the origin after it, once it is numbered
	turn    uint64   // its number among all blocks; 0 before it is appended to the log
	place   uint64   // the log's sequence for it
	block   point.Block
	points  dictionary
	text    int      // bytes of text in it
	receipt *receipt // for waiting callers
	waited  bool     // a caller is waiting for it
	data    []byte
	wait    func(context.Context) error
	answer  chan error // the result of wait
}

// receipt is what the callers of one block wait on. It outlives the batch.
type receipt struct {
	done  chan struct{} // closed when err is set
	err   error
	after []func() // called when the block is on disk; guarded by Recorder.mu until done
}

func newReceipt() *receipt { return &receipt{done: make(chan struct{})} }

func (r *Recorder) newBatch(l *lane) *batch {
	b, ok := r.spare.Get().(*batch)
	if !ok {
		b = new(batch)
	}
	b.block.Reset()
	b.text, b.turn, b.waited = 0, 0, false
	b.lane, b.origin = l, l.origin
	b.receipt = newReceipt()
	return b
}

// number returns the indexes of the samples' points in the dictionary, reusing ids. After an error the
// dictionary is unchanged.
func (b *batch) number(ids []uint32, samples []point.Sample) ([]uint32, error) {
	known, guess := len(b.block.Points), uint32(0)
	for i := range samples {
		var at uint32
		before := len(b.block.Points)
		b.block.Points, at = b.points.find(b.block.Points, samples[i].Point, guess)
		if int(at) == before {
			if err := checkPath(samples[i].Point); err != nil {
				clear(b.block.Points[known:])
				b.block.Points = b.block.Points[:known]
				b.points.fill(b.block.Points)
				return ids, err
			}
		}
		ids, guess = append(ids, at), at+1
	}
	return ids, nil
}

// add appends the samples, whose points have the given indexes.
func (b *batch) add(ids []uint32, samples []point.Sample) {
	for i := range samples {
		b.text += len(samples[i].Value.Text())
		b.block.Append(ids[i], &samples[i])
	}
}

// holds reports whether a portion still fits.
func (b *batch) holds(samples []point.Sample, limit int) bool {
	return b.block.Len()+len(samples) <= limit && b.text < maxBlockText
}

// forget clears the dictionary for reuse.
func (b *batch) forget() {
	clear(b.points.slots)
}
