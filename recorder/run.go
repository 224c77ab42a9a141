package recorder

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"voltbus/wire"
)

// maxFlight bounds the bytes on their way to the disk at once.
const maxFlight = 32 << 20

// drainTime bounds how long Run goes on writing after its context ended.
const drainTime = 10 * time.Second

// writer is the state of Run: only it numbers blocks and accesses the log.
type writer struct {
	*Recorder
	encoder wire.Encoder
	turn    uint64 // of the last block appended to the log
	last    uint64 // the log's last sequence, counting blocks in flight
	settled uint64 // the log's sequence up to which blocks are on disk
	sum     uint32 // of the entry at settled

	unmarked int      // bytes settled since the last mark
	unsure   bool     // a refused block may be on disk: no mark may follow it
	flight   []*batch // appended but not answered, oldest first
	octets   int      // in flight
	retry    []*batch // numbered but not on disk, to be appended again
	failed   bool     // the log refuses blocks
	due      bool     // the open block is old enough to be closed
	armed    bool     // the timer age is running
	age      *time.Timer
	deadline time.Time // when the open blocks are old enough
	seen     uint64    // Recorder.added, when age was set
	again    *time.Timer
}

// Run writes blocks until ctx ends, then writes what is still queued, and returns nil. Samples that cannot be
// written within ten seconds are then refused. Call it once.
func (r *Recorder) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w := &writer{
		Recorder: r, age: time.NewTimer(time.Hour), again: time.NewTimer(time.Hour),
	}
	w.age.Stop()
	w.again.Stop()
	defer w.age.Stop()
	defer w.again.Stop()
	data, last, err := w.log.Last(work)
	if err != nil {
		return err
	}
	w.last = last
	w.note(last, data)
	w.makeMark()
	for ctx.Err() == nil {
		w.step(ctx, work)
	}
	late := time.AfterFunc(drainTime, cancel)
	defer late.Stop()
	w.drain(work)
	return nil
}

// step waits for one event and handles it.
func (w *writer) step(ctx, work context.Context) {
	busy := w.failed || len(w.flight) >= w.cfg.InFlight || w.octets >= maxFlight
	if w.due && !busy {
		w.due = !w.closeAged()
	}
	ready, foreign := w.ready, w.foreign
	if busy {
		ready, foreign = nil, nil
	}
	select {
	case <-ctx.Done():
	case err := <-w.answer(work):
		w.settle(work, err)
	case b := <-ready:
		w.moveQueue()
		w.write(b)
	case b := <-foreign:
		w.moveQueue()
		w.pass(b)
	case <-w.kick:
		if !w.armed {
			w.armed, w.seen, w.deadline = true, 0, time.Now().Add(w.cfg.MaxAge)
			w.age.Reset(w.patience())
		}
	case <-w.age.C:
		if more := w.patience(); more > 0 {
			w.age.Reset(more)
		} else {
			w.armed, w.due = false, true
		}
	case <-w.again.C:
		w.resume(work)
	}
}

// quiet is the part of MaxAge without arrivals after which a block is closed for a waiting caller.
const quiet = 4

// patience returns how much longer the open blocks stay open for more samples: up to their MaxAge but, if a
// caller waits for its answer, only as long as more come.
func (w *writer) patience() time.Duration {
	w.mu.Lock()
	waited, added := false, w.added
	for _, l := range w.lanes() {
		waited = waited || (l.open != nil && l.open.waited)
	}
	w.mu.Unlock()
	left := time.Until(w.deadline)
	switch {
	case !waited:
		return left
	case added == w.seen:
		return 0
	}
	w.seen = added
	return min(left, w.cfg.MaxAge/quiet)
}

// closeAged queues the open blocks, the urgent one first; false if the queue is full.
func (w *writer) closeAged() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range slices.Backward(w.lanes()) {
		if l.open != nil && !w.closeOpen(l) {
			return false
		}
	}
	return true
}

// moveQueue wakes the callers waiting for a place in the queue.
func (w *writer) moveQueue() {
	w.mu.Lock()
	close(w.moved)
	w.moved = make(chan struct{})
	w.mu.Unlock()
}

// write numbers, encodes and appends an own block.
func (w *writer) write(b *batch) {
	if w.number(b) {
		w.append(b)
	}
}

// number numbers and encodes an own block; false if it is refused.
func (w *writer) number(b *batch) bool {
	l := b.lane
	w.mu.Lock()
	b.block.Refused = l.stats.Refused
	w.mu.Unlock()
	b.block.Origin, b.block.Sequence, b.block.Before = l.origin, l.sequence+1, l.samples
	b.block.Created = time.Now()
	b.forget()
	data, err := w.encoder.AppendBlock(b.data[:0], &b.block)
	if err != nil { // strings of more than 32 MiB in one block
		w.cfg.Log.Error("block cannot be encoded", slog.Any("err", err))
		w.refuse(b, err)
		return false
	}
	b.data, b.behind = data, behind(&b.block)
	l.sequence, l.samples, l.silent = b.behind.Sequence, b.behind.Samples, 0
	return true
}

// append appends a numbered block to the log.
func (w *writer) append(b *batch) {
	if b.turn == 0 {
		w.turn++
		b.turn = w.turn
	}
	if err := w.cfg.Room(); err != nil {
		w.fail(b, err)
		return
	}
	wait, err := w.log.Append(b.data, w.last)
	if err != nil {
		w.fail(b, err)
		return
	}
	w.last++
	b.wait, b.place = wait, w.last
	w.octets += len(b.data)
	w.flight = append(w.flight, b)
}

// answer returns a channel with the log's answer for the oldest block in flight; nil if none is. Its
// goroutine ends with the answer, which step or drain always receives.
func (w *writer) answer(ctx context.Context) <-chan error {
	if len(w.flight) == 0 {
		return nil
	}
	b := w.flight[0]
	if b.answer == nil {
		b.answer = make(chan error, 1)
		go func(answer chan<- error, wait func(context.Context) error) { answer <- wait(ctx) }(b.answer, b.wait)
	}
	return b.answer
}

// settle removes the oldest block from flight and answers its callers.
func (w *writer) settle(ctx context.Context, err error) {
	b := w.flight[0]
	w.flight = append(w.flight[:0], w.flight[1:]...)
	b.answer, b.wait = nil, nil
	w.octets -= len(b.data)
	switch {
	case err == nil:
		if !w.failed { // otherwise an earlier one may be on disk without an answer
			w.note(b.place, b.data)
		}
		w.acknowledge(b)
		w.markDue()
	case ctx.Err() != nil:
		w.unsure = true
		w.refuse(b, err)
	default:
		w.fail(b, err)
	}
}

// drain writes the remaining blocks when the node stops, and refuses those that cannot be written.
func (w *writer) drain(ctx context.Context) {
	w.mu.Lock()
	w.stopped = true
	var open []*batch
	for _, l := range w.lanes() {
		if l.open != nil {
			open = append(open, l.open)
			l.open = nil
		}
	}
	w.mu.Unlock()
	for len(w.ready) > 0 {
		w.drainOne(ctx, <-w.ready)
	}
	for _, b := range open {
		w.drainOne(ctx, b)
	}
	for len(w.foreign) > 0 {
		w.drainOne(ctx, <-w.foreign)
	}
	w.land(ctx, 0)
	for _, b := range w.retry {
		w.refuse(b, errors.Join(errStopped, w.Stats().Paused))
	}
	w.retry = nil
	w.makeMark()
	w.moveQueue()
}

func (w *writer) drainOne(ctx context.Context, b *batch) {
	w.land(ctx, w.cfg.InFlight-1)
	if w.failed {
		w.refuse(b, errors.Join(errStopped, w.Stats().Paused))
		return
	}
	if b.lane == nil {
		w.pass(b)
		return
	}
	w.write(b)
}

// land waits until at most n blocks are in flight.
func (w *writer) land(ctx context.Context, n int) {
	for len(w.flight) > n {
		w.settle(ctx, <-w.answer(ctx))
	}
}
