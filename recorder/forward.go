package recorder

import (
	"context"
	"errors"
	"fmt"

	"voltbus/fault"
	"voltbus/point"
)

// foreignQueue is how many blocks of other origins may be queued.
const foreignQueue = 8

// MaxForward is the maximum size of a forwarded encoded block in bytes.
const MaxForward = 7 << 20

var (
	errOwn    = errors.New("it comes from this node itself: are two nodes started from copies of one data directory, or do nodes pass blocks on in a circle?")
	errHeader = errors.New("a block needs an origin, a sequence from 1 on, and a first sequence that is not above it")
	errLarge  = fmt.Errorf("a block that is passed on has at most %d MiB when it is encoded; merge fewer", MaxForward>>20)
)

// other is an origin whose blocks are forwarded.
type other struct {
	queued Position // position of everything queued
	stored Position // position of everything on disk
	last   *receipt // of the last block queued; nil if that was before the start
}

// Forward appends the encoded block of another origin to the log as it is; b is the same block, of which only
// the header is used. The function that it returns waits until the block is on disk. Blocks of one origin
// must be passed one after another, and are in the log in this order. A block passed before is not appended
// again: its function waits for the first one. The recorder owns data until the node ends.
//
// Forward waits while the queue is full. It fails with fault.Unavailable while nothing can be written, with
// fault.Conflict for a block of an own lane, with fault.Invalid for one without origin or numbers or of more
// than MaxForward bytes, and with the context's error when ctx ends first. After an error from Forward the
// block is not in the log and will not be; after one from the function it may be, and may be passed again.
func (r *Recorder) Forward(ctx context.Context, b *point.Block, data []byte) (wait func(context.Context) error, err error) {
	switch {
	case b.Origin == "" || b.Sequence == 0 || b.First > b.Sequence:
		return nil, fault.E("recorder.Forward", fault.Invalid, b.Origin, errHeader)
	case len(data) > MaxForward:
		return nil, fault.E("recorder.Forward", fault.Invalid, b.Origin, errLarge)
	case b.Origin == r.cfg.Origin || b.Origin == point.UrgentOrigin(r.cfg.Origin):
		return nil, fault.E("recorder.Forward", fault.Conflict, b.Origin, errOwn)
	}
	next := &batch{origin: b.Origin, behind: behind(b), data: data}
	for {
		receipt, moved, err := r.hand(next)
		switch {
		case err == nil:
			return receipt.await, nil
		case !errors.Is(err, errFull):
			return nil, err
		}
		if err := awaitQueue(ctx, moved); err != nil {
			return nil, err
		}
	}
}

// hand queues a block of another origin, as add does samples.
func (r *Recorder) hand(b *batch) (*receipt, <-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.others[b.origin]
	switch {
	case r.stopped:
		return nil, nil, fault.E("recorder.Forward", fault.Unavailable, b.origin, errStopped)
	case o != nil && b.behind.Sequence <= o.queued.Sequence:
		return o.last, nil, nil
	case r.paused != nil:
		return nil, nil, r.paused
	}
	b.receipt = newReceipt()
	select {
	case r.foreign <- b:
	default:
		return nil, r.moved, errFull
	}
	if o == nil {
		o = &other{}
		r.others[b.origin] = o
	}
	o.queued, o.last = b.behind, b.receipt
	return b.receipt, nil, nil
}

// Paused returns why nothing is recorded now, of the kind unavailable; nil in normal operation.
func (r *Recorder) Paused() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.paused
}

// Others returns, per origin whose blocks were forwarded, the last block on disk.
func (r *Recorder) Others() map[string]Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make(map[string]Position, len(r.others))
	for origin, o := range r.others {
		if o.stored.Sequence > 0 {
			all[origin] = o.stored
		}
	}
	return all
}

// pass appends a block of another origin to the log.
func (w *writer) pass(b *batch) {
	w.append(b)
	for _, l := range w.lanes() {
		l.silent += len(b.data)
		if l.silent >= w.cfg.Anchor && l.sequence > 0 && !w.failed {
			w.write(w.newBatch(l))
		}
	}
}
