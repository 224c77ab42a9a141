package recorder

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/wire"
)

// drainTime bounds how long Run goes on writing after its context ended.
const drainTime = 10 * time.Second

// writer is the state of Run: it alone numbers blocks and talks to the log.
type writer struct {
	*Recorder
	encoder  wire.Encoder
	sequence uint64   // of the last block numbered
	samples  uint64   // in all blocks numbered
	last     uint64   // the log's last sequence, counting blocks in flight
	flight   []*batch // appended and not answered, oldest first
	retry    []*batch // numbered and not on disk, to be appended again
	failed   bool     // the log refuses blocks
	due      bool     // the open block is old enough to be closed
	armed    bool     // age runs
	age      *time.Timer
	again    *time.Timer
}

// Run writes blocks until ctx ends, then writes what is still queued, and returns nil. Samples
// that cannot be written within ten seconds then are refused. It is called once.
func (r *Recorder) Run(ctx context.Context) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	w := &writer{
		Recorder: r, sequence: r.stats.Sequence, samples: r.stats.Acknowledged,
		age: time.NewTimer(time.Hour), again: time.NewTimer(time.Hour),
	}
	w.age.Stop()
	w.again.Stop()
	defer w.age.Stop()
	defer w.again.Stop()
	_, last, err := w.log.Last(work)
	if err != nil {
		return err
	}
	w.last = last
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
	busy := w.failed || len(w.flight) >= w.cfg.InFlight
	if w.due && !busy {
		w.due = !w.closeAged()
	}
	ready := w.ready
	if busy {
		ready = nil
	}
	select {
	case <-ctx.Done():
	case err := <-w.answer(work):
		w.settle(work, err)
	case b := <-ready:
		w.moveQueue()
		w.write(b)
	case <-w.kick:
		if !w.armed {
			w.age.Reset(w.cfg.MaxAge)
			w.armed = true
		}
	case <-w.age.C:
		w.armed, w.due = false, true
	case <-w.again.C:
		w.resume(work)
	}
}

// closeAged queues the open block; false if the queue is full.
func (w *writer) closeAged() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open == nil || w.closeOpen()
}

// moveQueue wakes those who wait for a place in the queue.
func (w *writer) moveQueue() {
	w.mu.Lock()
	close(w.moved)
	w.moved = make(chan struct{})
	w.mu.Unlock()
}

// write numbers, encodes and appends a block.
func (w *writer) write(b *batch) {
	w.mu.Lock()
	b.block.Refused = w.stats.Refused
	w.mu.Unlock()
	w.sequence++
	b.block.Origin, b.block.Sequence, b.block.Before = w.cfg.Origin, w.sequence, w.samples
	b.block.Created = time.Now()
	w.samples += uint64(b.block.Len())
	b.forget()
	data, err := w.encoder.AppendBlock(b.data[:0], &b.block)
	if err != nil { // texts of more than 32 MiB in one block
		w.cfg.Log.Error("block cannot be encoded", slog.Any("err", err))
		w.sequence--
		w.samples -= uint64(b.block.Len())
		w.refuse(b, err)
		return
	}
	b.data = data
	w.append(b)
}

// append hands a numbered block to the log.
func (w *writer) append(b *batch) {
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
	b.wait = wait
	w.flight = append(w.flight, b)
}

// answer returns a channel with the log's answer for the oldest block in flight; nil if none is.
// The goroutine behind it ends with the answer, which step or drain always take.
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

// settle takes the oldest block out of flight and answers its writers.
func (w *writer) settle(ctx context.Context, err error) {
	b := w.flight[0]
	w.flight = append(w.flight[:0], w.flight[1:]...)
	b.answer, b.wait = nil, nil
	switch {
	case err == nil:
		w.acknowledge(b)
	case ctx.Err() != nil:
		w.refuse(b, err)
	default:
		w.fail(b, err)
	}
}

// fail keeps a block for the time when the log can be written again.
func (w *writer) fail(b *batch, err error) {
	w.retry = append(w.retry, b)
	if w.failed {
		return
	}
	w.failed = true
	w.again.Reset(w.cfg.Retry)
	if fault.KindOf(err) != fault.Unavailable {
		err = fault.E("recorder.Record", fault.Unavailable, "", err)
	}
	w.mu.Lock()
	first := w.paused == nil
	w.paused = err
	w.mu.Unlock()
	if first {
		w.cfg.Log.Warn("recording is paused", slog.Any("err", err))
	}
}

// resume finds out which blocks reached the disk after all, makes the log writable, and appends
// the rest again, in order and with their numbers.
func (w *writer) resume(ctx context.Context) {
	if !w.failed {
		return
	}
	if len(w.flight) > 0 || w.cfg.Room() != nil {
		w.again.Reset(w.cfg.Retry)
		return
	}
	stored, err := w.recoverLog(ctx)
	if err != nil {
		w.again.Reset(w.cfg.Retry)
		return
	}
	again := w.retry
	w.retry, w.failed = nil, false
	slices.SortFunc(again, func(a, b *batch) int { return cmp.Compare(a.block.Sequence, b.block.Sequence) })
	for _, b := range again {
		switch {
		case b.block.Sequence <= stored:
			w.acknowledge(b)
		case w.failed:
			w.retry = append(w.retry, b)
		default:
			w.append(b)
		}
	}
	if !w.failed {
		w.unpause(len(again))
	}
}

func (w *writer) unpause(blocks int) {
	w.mu.Lock()
	w.paused = nil
	w.mu.Unlock()
	w.cfg.Log.Info("recording goes on", slog.Int("blocks", blocks))
}

// recoverLog makes the log writable and returns the own sequence of the last block in it.
func (w *writer) recoverLog(ctx context.Context) (stored uint64, err error) {
	if err := w.log.Recover(ctx); err != nil {
		return 0, err
	}
	data, last, err := w.log.Last(ctx)
	if err != nil {
		return 0, err
	}
	w.last = last
	return w.sequenceOf(data), nil
}

// sequenceOf returns the own sequence of an entry of the log; 0 if it is none of ours. Then all
// blocks are appended again, and readers drop what is there twice.
func (w *writer) sequenceOf(data []byte) uint64 {
	var block point.Block
	if data == nil || new(wire.Decoder).DecodeBlock(data, &block) != nil || block.Origin != w.cfg.Origin {
		return 0
	}
	return block.Sequence
}

func (w *writer) acknowledge(b *batch) {
	n := uint64(b.block.Len())
	w.mu.Lock()
	w.stats.Acknowledged += n
	w.stats.Pending -= n
	w.stats.Sequence = b.block.Sequence
	w.mu.Unlock()
	close(b.receipt.done)
	w.spare.Put(b)
}

// refuse gives a block up, for good.
func (w *writer) refuse(b *batch, err error) {
	n := uint64(b.block.Len())
	w.mu.Lock()
	w.stats.Refused += n
	w.stats.Pending -= n
	w.mu.Unlock()
	b.receipt.err = fault.E("recorder.Record", fault.Unavailable, "", err)
	close(b.receipt.done)
}

// drain writes what is left when the node stops, and refuses what cannot be written.
func (w *writer) drain(ctx context.Context) {
	w.mu.Lock()
	w.stopped = true
	open := w.open
	w.open = nil
	w.mu.Unlock()
	for len(w.ready) > 0 {
		w.drainOne(ctx, <-w.ready)
	}
	if open != nil {
		w.drainOne(ctx, open)
	}
	w.land(ctx, 0)
	for _, b := range w.retry {
		w.refuse(b, errors.Join(errStopped, w.Stats().Paused))
	}
	w.retry = nil
	w.moveQueue()
}

func (w *writer) drainOne(ctx context.Context, b *batch) {
	w.land(ctx, w.cfg.InFlight-1)
	if w.failed {
		w.refuse(b, errors.Join(errStopped, w.Stats().Paused))
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
