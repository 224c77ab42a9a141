// Package sink moves blocks from the log into a store. A sink has its own position, which the store commits
// together with the data: a crash neither loses nor repeats a sample, and an unavailable store builds up a
// visible backlog in the log without slowing anything else down.
package sink

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/point"
	"voltbus/store"
	"voltbus/wire"
)

// Log is what a sink reads.
type Log interface {
	ID() string
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Read delivers blocks from a sequence number on, in order, until ctx ends.
	Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// Store is the destination of the blocks: a store.Store, or a part of one.
type Store interface {
	Append(ctx context.Context, blocks []*point.Block) (store.Result, error)
	// Cursor returns the log and the position in it up to which blocks are stored.
	Cursor(ctx context.Context) (log string, sequence uint64, err error)
}

// Config sets a sink's timing. Zero values mean the defaults.
type Config struct {
	Every   time.Duration // longest time between commits, and so about the longest that a block waits: default 1 s
	Samples int           // samples in a commit under load: default 400,000
	Retry   time.Duration // pause after a failure: default 1 s
	// Collect has each commit wait Every from its first block on, unless it has Samples before: for a store that wants few large commits.
	Collect bool
	// Stored is called with the blocks of each commit, including repeats, right after it and from one
	// goroutine. It must return soon and retain none of them; may be nil.
	Stored func(blocks []*point.Block)
	// Leaves selects origins whose samples the store does not keep: their blocks advance its position, and count as
	// left out. nil for none.
	Leaves func(origin string) bool
	// Skips selects origins whose headers do not matter either: their blocks are not decoded, and the store sees only their position in
	// the log. nil for none.
	Skips func(origin string) bool
	Log   *slog.Logger
}

// Sink moves one log into one store. Stats may be called at any time.
type Sink struct {
	cfg   Config
	log   Log
	store Store

	mu    sync.Mutex
	stats Stats
}

// Stats describes a sink.
type Stats struct {
	Sequence uint64 // log sequence up to which blocks are stored
	Blocks   uint64 // blocks stored since the start
	Samples  uint64 // samples stored since the start
	Repeated uint64 // samples dropped as repeats since the start
	Dropped  uint64 // blocks that the log had dropped before they were stored, since the start
	Corrupt  uint64 // blocks that could not be decoded, since the start
	Err      error  // why nothing is stored now; nil in normal operation
}

// New returns a sink.
func New(cfg Config, log Log, st Store) *Sink {
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	if cfg.Samples == 0 {
		cfg.Samples = 400_000
	}
	if cfg.Retry == 0 {
		cfg.Retry = time.Second
	}
	if cfg.Stored == nil {
		cfg.Stored = func([]*point.Block) {}
	}
	if cfg.Leaves == nil {
		cfg.Leaves = func(string) bool { return false }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Sink{cfg: cfg, log: log, store: st}
}

// Stats returns the current counts.
func (s *Sink) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Run stores blocks until ctx ends, then stores what it has read, and returns nil. Failures are shown in
// Stats and retried.
func (s *Sink) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := s.follow(ctx); ctx.Err() == nil {
			s.report(err)
			pause(ctx, s.cfg.Retry)
		}
	}
	return nil
}

// report keeps the error for Stats, and logs a new one.
func (s *Sink) report(err error) {
	s.mu.Lock()
	first := s.stats.Err == nil && err != nil
	s.stats.Err = err
	s.mu.Unlock()
	if first {
		s.cfg.Log.Warn("storing is paused", slog.Any("err", err))
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// follow reads the log from the store's position on, until something fails or ctx ends.
func (s *Sink) follow(ctx context.Context) error {
	from, err := s.start(ctx)
	if err != nil {
		return err
	}
	group, reading := errgroup.WithContext(ctx)
	blocks := make(chan *point.Block, 64)
	r := &reader{sink: s, next: from, out: blocks}
	group.Go(func() error {
		defer close(blocks)
		return s.log.Read(reading, from, r.deliver(reading))
	})
	group.Go(func() error { return s.gather(reading, blocks) })
	return group.Wait()
}

// start returns the log sequence to read from. A cursor into another log, or beyond the end of
// this one, means that the log was replaced: it is read from its beginning.
func (s *Sink) start(ctx context.Context) (uint64, error) {
	log, sequence, err := s.store.Cursor(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the store's position: %w", err)
	}
	_, last, err := s.log.Bounds(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the log's bounds: %w", err)
	}
	if log != s.log.ID() || sequence > last {
		return 1, nil // everything before the oldest block was dropped
	}
	s.mu.Lock()
	s.stats.Sequence = sequence
	s.mu.Unlock()
	return sequence + 1, nil
}

// Timing of commits under little load: the first block after a quiet period waits briefly for others, and the
// time between two commits is a multiple of the duration of the previous one, so that a fast store has
// samples early and a slow one is not overloaded.
const (
	soon       = 20 * time.Millisecond
	leastRest  = 200 * time.Millisecond
	restFactor = 10
)

// rest is how long the next commit waits after one of a given duration.
func (s *Sink) rest(took time.Duration) time.Duration {
	return min(max(leastRest, restFactor*took), s.cfg.Every)
}

// wait is how long the first block of a commit waits for others.
func (s *Sink) wait(rest time.Duration) time.Duration {
	if s.cfg.Collect {
		return s.cfg.Every
	}
	return max(soon, rest)
}

// gather collects blocks and commits them, until the channel is closed.
func (s *Sink) gather(ctx context.Context, blocks <-chan *point.Block) error {
	var batch []*point.Block
	samples := 0
	var last time.Time // of the last commit
	rest := s.cfg.Every
	due := time.NewTimer(time.Hour)
	due.Stop()
	defer due.Stop()
	for {
		select {
		case b, open := <-blocks:
			if !open {
				return s.commit(context.WithoutCancel(ctx), batch)
			}
			if len(batch) == 0 {
				due.Reset(s.wait(rest - time.Since(last)))
			}
			batch = append(batch, b)
			if samples += b.Len(); samples < s.cfg.Samples {
				continue
			}
		case <-due.C:
		}
		began := time.Now()
		if err := s.commit(ctx, batch); err != nil {
			return err
		}
		release(batch)
		batch, samples, last = batch[:0], 0, time.Now()
		rest = s.rest(last.Sub(began))
		due.Stop()
	}
}

// commit stores a batch.
func (s *Sink) commit(ctx context.Context, batch []*point.Block) error {
	if len(batch) == 0 {
		return nil
	}
	result, err := s.store.Append(ctx, batch)
	if fault.Is(err, fault.Invalid) {
		return s.sift(ctx, batch)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", plural.Of(len(batch), "block"), err)
	}
	s.cfg.Stored(batch)
	s.mu.Lock()
	recovered := s.stats.Err != nil
	s.stats.Err = nil
	s.stats.Sequence = batch[len(batch)-1].LogSequence
	s.stats.Blocks += uint64(len(batch))
	s.stats.Samples += uint64(result.Stored)
	s.stats.Repeated += uint64(result.Repeated)
	s.mu.Unlock()
	if recovered {
		s.cfg.Log.InfoContext(ctx, "storing goes on")
	}
	return nil
}

// sift stores a batch containing a block that no store can keep: individually, without that block.
func (s *Sink) sift(ctx context.Context, batch []*point.Block) error {
	if len(batch) == 1 {
		s.cfg.Log.ErrorContext(ctx, "block of the log cannot be stored and is skipped",
			slog.String("origin", batch[0].Origin), slog.Uint64("sequence", batch[0].LogSequence))
		s.mu.Lock()
		s.stats.Corrupt++
		s.stats.Sequence = batch[0].LogSequence
		s.mu.Unlock()
		return nil
	}
	lost := map[string]bool{}
	for i, b := range batch {
		corrupt := s.Stats().Corrupt
		if lost[b.Origin] {
			b.Lost = cmp.Or(b.Lost, "corrupt")
		}
		if err := s.commit(ctx, batch[i:i+1]); err != nil {
			return err
		}
		lost[b.Origin] = s.Stats().Corrupt > corrupt
	}
	return nil
}

// spare keeps blocks for reuse: at full load there is a block per millisecond.
var spare = sync.Pool{New: func() any { return new(point.Block) }} //nolint:gochecknoglobals // a pool serves all sinks

func release(batch []*point.Block) {
	for i, b := range batch {
		spare.Put(b)
		batch[i] = nil
	}
}

// reader decodes blocks and detects missing ones.
type reader struct {
	sink    *Sink
	decoder wire.Decoder
	next    uint64 // log sequence expected
	out     chan<- *point.Block
	losses  int            // number of losses
	reason  string         // reason of the last one
	told    map[string]int // per origin, the losses with which its blocks were marked
}

func (r *reader) deliver(ctx context.Context) func(uint64, []byte) error {
	r.told = map[string]int{}
	return func(sequence uint64, data []byte) error {
		if sequence > r.next {
			r.lose(r.whyMissing(ctx), sequence-r.next)
		}
		r.next = sequence + 1
		b, ok := spare.Get().(*point.Block)
		if !ok {
			b = new(point.Block)
		}
		if err := r.decode(data, b); err != nil {
			r.sink.cfg.Log.ErrorContext(ctx, "block of the log is corrupt and skipped",
				slog.Uint64("sequence", sequence), slog.Any("err", err))
			r.lose("corrupt", 1)
			return nil
		}
		b.Log, b.LogSequence = r.sink.log.ID(), sequence
		if r.sink.cfg.Leaves(b.Origin) {
			b.Leave()
		}
		if r.told[b.Origin] != r.losses {
			r.told[b.Origin] = r.losses
			b.Lost = cmp.Or(b.Lost, r.reason) // a reason known to a node on the way takes precedence
		}
		select {
		case r.out <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// decode decodes a block, or only its origin.
func (r *reader) decode(data []byte, b *point.Block) error {
	if skips := r.sink.cfg.Skips; skips != nil {
		origin, err := r.decoder.Origin(data)
		if err != nil {
			return err
		}
		if skips(origin) {
			b.Reset()
			b.Origin = origin
			return nil
		}
	}
	return r.decoder.DecodeBlock(data, b)
}

// whyMissing returns why the blocks from r.next on are missing: the log drops only its oldest.
func (r *reader) whyMissing(ctx context.Context) string {
	if first, _, err := r.sink.log.Bounds(ctx); err == nil && first <= r.next {
		return "corrupt"
	}
	return "dropped"
}

func (r *reader) lose(reason string, blocks uint64) {
	r.losses++
	r.reason = reason
	r.sink.mu.Lock()
	defer r.sink.mu.Unlock()
	if reason == "corrupt" {
		r.sink.stats.Corrupt += blocks
	} else {
		r.sink.stats.Dropped += blocks
	}
}
