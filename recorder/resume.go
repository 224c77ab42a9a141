package recorder

import (
	"cmp"
	"context"
	"hash/crc32"
	"log/slog"
	"slices"

	"voltbus/fault"
)

// fail keeps a block until the log can be written again.
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
	w.moveQueue() // waiting callers learn why there is no place
	if first {
		w.cfg.Log.Warn("recording is paused", slog.Any("err", err))
	}
}

// resume determines which blocks reached the disk after all, makes the log writable, and appends the rest
// again, in order and with their numbers.
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
	slices.SortFunc(again, func(a, b *batch) int { return cmp.Compare(a.turn, b.turn) })
	moved := map[*lane]bool{}
	for _, b := range again {
		if b.lane != nil && !moved[b.lane] && stored.others(b) {
			moved[b.lane] = true
			w.give(b, stored.positions[b.origin])
		}
		switch {
		case moved[b.lane] && !w.number(b):
		case b.behind.Sequence <= stored.positions[b.origin].Sequence:
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

// others reports whether the log has another block under the number of this one.
func (s *surveyed) others(b *batch) bool {
	sum, there := s.sums[place{b.origin, b.behind.Sequence}]
	return there && sum != crc32.Checksum(b.data, castagnoli)
}

// give gives the numbers of a block to those that the log has: blocks of an earlier run of this recorder that were on their way to a majority
// of the replicas when it ended, and arrived after it had started again. They were answered to nobody, and count as acknowledged.
func (w *writer) give(b *batch, to Position) {
	l := b.lane
	w.cfg.Log.Info("blocks of the run before came late into the log", slog.String("origin", l.origin), slog.Uint64("sequence", to.Sequence))
	late := to.Samples - min(to.Samples, b.block.Before)
	l.sequence, l.samples = to.Sequence, to.Samples
	w.mu.Lock()
	defer w.mu.Unlock()
	l.stored = to
	l.stats.Produced += late
	l.stats.Acknowledged += late
	l.stats.Sequence = to.Sequence
}

// recoverLog makes the log writable and returns which blocks it contains after the answered ones.
func (w *writer) recoverLog(ctx context.Context) (stored surveyed, err error) {
	if err := w.log.Recover(ctx); err != nil {
		return stored, err
	}
	data, last, err := w.log.Last(ctx)
	if err != nil {
		return stored, err
	}
	from := w.settled + 1
	if last < w.settled { // the log was replaced
		from = 1
	}
	stored = surveyed{before: map[string]uint64{}, sums: map[place]uint32{}}
	if err := stored.read(ctx, w.log, from); err != nil {
		return stored, err
	}
	w.last = last
	w.note(last, data)
	return stored, nil
}

func (w *writer) acknowledge(b *batch) {
	w.mu.Lock()
	if l := b.lane; l != nil {
		n := uint64(b.block.Len())
		l.stats.Acknowledged += n
		l.stats.Pending -= n
		l.stats.Sequence = b.behind.Sequence
		l.stored = b.behind
	} else {
		w.others[b.origin].stored = b.behind
	}
	close(b.receipt.done)
	after := b.receipt.after
	w.mu.Unlock()
	for _, f := range after {
		f()
	}
	if b.lane != nil {
		w.spare.Put(b)
	}
}

// refuse gives a block up, for good.
func (w *writer) refuse(b *batch, err error) {
	if l := b.lane; l != nil {
		n := uint64(b.block.Len())
		w.mu.Lock()
		l.stats.Refused += n
		l.stats.Pending -= n
		w.mu.Unlock()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	b.receipt.err = fault.E("recorder.Record", fault.Unavailable, "", err)
	close(b.receipt.done)
}
