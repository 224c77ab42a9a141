// Package recorder makes samples durable. It merges what arrives within a few milliseconds into
// one block, appends the block to the log, and answers every writer when it is on disk:
// acknowledged means on disk.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Log is where blocks go: an ordered, durable sequence with the recorder as its only writer.
type Log interface {
	// Append hands over data to stand behind the entry with sequence after. The function it
	// returns waits until the data is on disk; data must not change until then.
	Append(data []byte, after uint64) (wait func(context.Context) error, err error)
	// Last returns the newest entry, nil if there is none, and the last sequence used.
	Last(ctx context.Context) (data []byte, sequence uint64, err error)
	// Recover makes the log writable again after an Append failed.
	Recover(ctx context.Context) error
}

// Config sets the recorder's bounds. Zero values mean the defaults.
type Config struct {
	Origin     string        // the node's name
	MaxAge     time.Duration // how long a sample may wait for others: default 5 ms
	MaxSamples int           // samples in a block: default 10,000
	InFlight   int           // blocks on their way to the disk at once: default 32
	Queue      int           // closed blocks that wait: default 64; beyond it Record waits and Offer refuses
	// Room returns why nothing can be written now, such as a full disk, or nil.
	Room func() error
	// Retry is how long the recorder waits before it tries a log that failed again: default 500 ms.
	Retry time.Duration
	Log   *slog.Logger
}

func (c Config) withDefaults() Config {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&c.MaxSamples, 10_000)
	set(&c.InFlight, 32)
	set(&c.Queue, 64)
	if c.MaxAge == 0 {
		c.MaxAge = 5 * time.Millisecond
	}
	if c.Retry == 0 {
		c.Retry = 500 * time.Millisecond
	}
	if c.Room == nil {
		c.Room = func() error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Start is where the origin's numbering goes on: the last block known to the log or the store.
type Start struct {
	Sequence uint64
	Samples  uint64 // samples in all blocks up to Sequence
	Refused  uint64
}

// Recorder accepts samples. Its methods are safe for concurrent use. They work while Run runs;
// before that samples are only gathered.
type Recorder struct {
	cfg   Config
	log   Log
	ready chan *batch   // closed blocks, oldest first
	kick  chan struct{} // the open block got its first sample
	spare sync.Pool     // of *batch

	mu      sync.Mutex
	open    *batch
	moved   chan struct{} // closed and replaced when the queue has moved
	paths   interner
	paused  error
	stopped bool
	stats   Stats
}

// Stats counts samples since the origin's first block, over restarts; Produced and Refused of
// the time between a crash's last block and the crash are lost with it.
type Stats struct {
	Produced     uint64 // handed to the recorder
	Acknowledged uint64 // on disk
	Refused      uint64 // could not be recorded: the queue was full, or the recorder stopped
	Pending      uint64 // on their way
	Sequence     uint64 // last block on disk
	Paused       error  // why nothing is recorded now; nil in normal operation
}

// batch is a block on its way to the disk. It is used again when it is there.
type batch struct {
	block   point.Block
	local   []uint32 // interned path → index in block.Points, plus one
	used    []uint32 // the entries of local to clear
	text    int      // octets of text in it
	receipt *receipt // for those who wait
	data    []byte
	wait    func(context.Context) error
	answer  chan error // what wait returned, once it did
}

// receipt is what the writers of one block wait for. It outlives the batch.
type receipt struct {
	done chan struct{} // closed when err is decided
	err  error
}

// New returns a recorder that goes on behind start.
func New(cfg Config, log Log, start Start) *Recorder {
	cfg = cfg.withDefaults()
	r := &Recorder{
		cfg: cfg, log: log, ready: make(chan *batch, cfg.Queue), kick: make(chan struct{}, 1),
		moved: make(chan struct{}),
		paths: interner{index: map[point.Path]uint32{}},
		stats: Stats{
			Produced: start.Samples + start.Refused, Acknowledged: start.Samples,
			Refused: start.Refused, Sequence: start.Sequence,
		},
	}
	return r
}

var (
	errStopped = errors.New("the node is stopping")
	errFull    = errors.New("more samples arrive than can be written; try again later")
)

// Record makes samples durable: when it returns nil they are on disk. It fails with fault.Invalid
// for a bad path or a text of more than 64 KiB; with fault.Unavailable while nothing can be
// written; with the context's error when ctx ends first. After an error some of the samples may be
// recorded all the same; recording them again does no harm but a new version.
func (r *Recorder) Record(ctx context.Context, samples []point.Sample) error {
	var receipts []*receipt
	for len(samples) > 0 {
		n := r.portion(samples)
		receipt, err := r.enqueue(ctx, samples[:n])
		if err != nil {
			return err
		}
		receipts = append(receipts, receipt)
		samples = samples[n:]
	}
	for _, receipt := range receipts {
		if err := receipt.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// enqueue adds one portion, and waits while the queue is full.
func (r *Recorder) enqueue(ctx context.Context, samples []point.Sample) (*receipt, error) {
	for {
		receipt, moved, err := r.add(samples, true)
		if !errors.Is(err, errFull) {
			return receipt, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, fault.E("recorder.Record", fault.KindOf(ctx.Err()), "", fmt.Errorf("wait for the queue: %w", ctx.Err()))
		}
	}
}

// portion returns how many of the samples fit into one block.
func (r *Recorder) portion(samples []point.Sample) int {
	text := 0
	for i := range samples {
		text += len(samples[i].Value.Text())
		if i == r.cfg.MaxSamples || (text > maxBlockText && i > 0) {
			return i
		}
	}
	return len(samples)
}

// Offer records samples without waiting. Those that cannot be queued are refused and counted:
// it returns false then. Devices use it, which must be read on whatever the disk does.
func (r *Recorder) Offer(samples []point.Sample) bool {
	for len(samples) > 0 {
		n := r.portion(samples)
		if _, _, err := r.add(samples[:n], false); err != nil {
			r.mu.Lock()
			r.stats.Produced += uint64(len(samples))
			r.stats.Refused += uint64(len(samples))
			r.mu.Unlock()
			return false
		}
		samples = samples[n:]
	}
	return true
}

// add puts the samples into the open block, and closes it when it is full. When the queue is
// full it fails with errFull and returns a channel that is closed when the queue has moved.
func (r *Recorder) add(samples []point.Sample, wait bool) (*receipt, <-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
		return nil, nil, fault.E("recorder.Record", fault.Unavailable, "", errStopped)
	case wait && r.paused != nil:
		return nil, nil, r.paused
	case r.open != nil && !r.open.holds(samples, r.cfg.MaxSamples) && !r.closeOpen():
		return nil, r.moved, errFull
	}
	if err := r.paths.intern(samples); err != nil {
		return nil, nil, err
	}
	if r.open == nil {
		r.open = r.newBatch()
	}
	b := r.open
	b.add(&r.paths, samples)
	r.stats.Produced += uint64(len(samples))
	r.stats.Pending += uint64(len(samples))
	if b.block.Len() >= r.cfg.MaxSamples {
		r.closeOpen()
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
	return b.receipt, nil, nil
}

// closeOpen queues the open block; false if the queue is full. The caller holds mu.
func (r *Recorder) closeOpen() bool {
	select {
	case r.ready <- r.open:
		r.open = nil
		return true
	default:
		return false
	}
}

// Stats returns the counts now.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Paused = r.paused
	return s
}

func (r *Recorder) newBatch() *batch {
	b, ok := r.spare.Get().(*batch)
	if !ok {
		b = new(batch)
	}
	b.block.Reset()
	b.text = 0
	b.receipt = &receipt{done: make(chan struct{})}
	return b
}

func (r *receipt) await(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fault.E("recorder.Record", fault.KindOf(ctx.Err()), "", fmt.Errorf("wait for the disk: %w", ctx.Err()))
	}
}

// add appends the samples, whose paths were interned just before.
func (b *batch) add(paths *interner, samples []point.Sample) {
	if grow := len(paths.list) - len(b.local); grow > 0 {
		b.local = append(b.local, make([]uint32, grow)...)
	}
	for i := range samples {
		id := paths.ids[i]
		at := b.local[id]
		if at == 0 {
			b.block.Points = append(b.block.Points, paths.list[id])
			at = uint32(len(b.block.Points))
			b.local[id] = at
			b.used = append(b.used, id)
		}
		b.text += len(samples[i].Value.Text())
		b.block.Append(at-1, &samples[i])
	}
}

// holds reports whether a portion still fits.
func (b *batch) holds(samples []point.Sample, limit int) bool {
	return b.block.Len()+len(samples) <= limit && b.text < maxBlockText
}

// forget clears the dictionary for the next use.
func (b *batch) forget() {
	for _, id := range b.used {
		b.local[id] = 0
	}
	b.used = b.used[:0]
}
