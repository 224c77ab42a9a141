// Package recorder makes samples durable. It merges samples that arrive within a few milliseconds into one
// block, appends the block to the log, and answers every caller when it is on disk: acknowledged means on
// disk.
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

// Log is the destination of blocks: an ordered, durable sequence with the recorder as its only writer.
type Log interface {
	// Append appends data after the entry with sequence number after. The function it returns waits until the
	// data is on disk; data must not change until then.
	Append(data []byte, after uint64) (wait func(context.Context) error, err error)
	// Last returns the newest entry, nil if there is none, and the last sequence number used.
	Last(ctx context.Context) (data []byte, sequence uint64, err error)
	// Recover makes the log writable again after a failed Append.
	Recover(ctx context.Context) error
	Scanner
}

// Config sets the recorder's bounds. Zero values mean the defaults.
type Config struct {
	Origin     string        // origin of this directory's blocks
	MaxAge     time.Duration // how long a sample may wait for others: default 5 ms; a quarter of it once no more come and a caller waits
	MaxSamples int           // samples in a block: default 10,000
	InFlight   int           // blocks on their way to the disk at once: default 32
	Queue      int           // queued closed blocks: default 64; beyond it Record waits and Offer refuses
	Anchor     int           // bytes of other origins after which an empty own block records the numbers: default 1 MiB
	// Urgent selects the points of the urgent lane: they are recorded under point.UrgentOrigin of the origin,
	// in separate blocks. Without any there is only one lane.
	Urgent []point.Pattern
	// Room returns why nothing can be written now, such as a full disk, or nil.
	Room func() error
	// Refuse returns why nobody who waits for an answer can get one now, or nil; it is asked often. May be nil.
	Refuse func() error
	// Mark is called from time to time, and at the end, with the positions of all origins, complete except for
	// the log's identity; it stores them for the next start. It is called by one goroutine, which writes nothing
	// meanwhile. May be nil.
	Mark      func(Mark) error
	MarkEvery int // bytes of the log between two marks: default 64 MiB
	// Retry is how long the recorder waits before it retries a failed log: default 500 ms.
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
	set(&c.Anchor, 1<<20)
	set(&c.MarkEvery, 64<<20)
	if c.MaxAge == 0 {
		c.MaxAge = 5 * time.Millisecond
	}
	if c.Retry == 0 {
		c.Retry = 500 * time.Millisecond
	}
	if c.Room == nil {
		c.Room = func() error { return nil }
	}
	if c.Refuse == nil {
		c.Refuse = func() error { return nil }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Start is where the numbering of blocks continues; see FindStart. The zero Start begins from scratch.
type Start struct {
	Own    Position            // of Config.Origin
	Urgent Position            // of its urgent lane
	Others map[string]Position // of origins whose blocks were forwarded
}

// Recorder accepts samples. Its methods are safe for concurrent use. They work while Run runs; before that
// samples are only collected.
type Recorder struct {
	cfg     Config
	log     Log
	ready   chan *batch   // closed blocks of own lanes, oldest first
	foreign chan *batch   // blocks of other origins, oldest first: a separate queue, so that they do not displace own blocks
	kick    chan struct{} // an open block got its first sample
	spare   sync.Pool     // of *batch

	lane   *lane
	urgent *lane // nil if there is none

	mu      sync.Mutex
	moved   chan struct{} // closed and replaced when a queue advances
	urgents urgency
	ids     []uint32 // reused
	added   uint64   // portions added
	others  map[string]*other
	paused  error
	stopped bool
}

// Stats counts samples since the origin's first block, across restarts; a crash loses Produced and Refused
// since the last block.
type Stats struct {
	Origin       string
	Produced     uint64 // passed to the recorder
	Acknowledged uint64 // on disk
	Refused      uint64 // could not be recorded: the queue was full, or the recorder stopped
	Pending      uint64 // in progress
	Sequence     uint64 // of the last block on disk
	Paused       error  // why nothing is recorded now; nil in normal operation
}

// New returns a recorder that continues after start.
func New(cfg Config, log Log, start Start) *Recorder {
	cfg = cfg.withDefaults()
	r := &Recorder{
		cfg: cfg, log: log, ready: make(chan *batch, cfg.Queue), kick: make(chan struct{}, 1),
		foreign: make(chan *batch, foreignQueue), moved: make(chan struct{}),
		lane:    newLane(cfg.Origin, start.Own),
		urgents: urgency{patterns: cfg.Urgent, known: map[point.Path]bool{}},
		others:  make(map[string]*other, len(start.Others)),
	}
	if len(cfg.Urgent) > 0 || start.Urgent.Sequence > 0 {
		r.urgent = newLane(point.UrgentOrigin(cfg.Origin), start.Urgent)
	}
	for origin, p := range start.Others {
		r.others[origin] = &other{queued: p, stored: p}
	}
	return r
}

var (
	errStopped = errors.New("the node is stopping")
	errFull    = errors.New("more samples arrive than can be written; try again later")
)

// Record makes samples durable: when it returns nil they are on disk. It fails with fault.Invalid for a bad
// path or a text of more than 64 KiB; with fault.Unavailable while nothing can be written; with the context's
// error when ctx ends first. After an error some of the samples may have been recorded anyway; recording them
// again only adds a new version.
func (r *Recorder) Record(ctx context.Context, samples []point.Sample) error {
	if err := r.cfg.Refuse(); err != nil {
		return err
	}
	urgent, rest := r.divide(samples)
	receipts, err := r.enqueueAll(ctx, nil, r.urgent, urgent)
	if err == nil {
		receipts, err = r.enqueueAll(ctx, receipts, r.lane, rest)
	}
	if err != nil {
		return err
	}
	for _, receipt := range receipts {
		if err := receipt.await(ctx); err != nil {
			return err
		}
	}
	return nil
}

// enqueueAll adds samples of one lane, and appends to receipts the ones to wait for.
func (r *Recorder) enqueueAll(ctx context.Context, receipts []*receipt, l *lane, samples []point.Sample) ([]*receipt, error) {
	for len(samples) > 0 {
		n := r.portion(samples)
		receipt, err := r.enqueue(ctx, l, samples[:n])
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, receipt)
		samples = samples[n:]
	}
	return receipts, nil
}

// enqueue adds one portion, and waits while the queue is full.
func (r *Recorder) enqueue(ctx context.Context, l *lane, samples []point.Sample) (*receipt, error) {
	for {
		receipt, moved, err := r.add(l, samples, true)
		if !errors.Is(err, errFull) {
			return receipt, err
		}
		if err := awaitQueue(ctx, moved); err != nil {
			return nil, err
		}
	}
}

func awaitQueue(ctx context.Context, moved <-chan struct{}) error {
	select {
	case <-moved:
		return nil
	case <-ctx.Done():
		return fault.E("recorder.Record", fault.KindOf(ctx.Err()), "", fmt.Errorf("wait for the queue: %w", ctx.Err()))
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

// Offer records samples without waiting. Those that cannot be queued are refused and counted: it then returns
// false. It is for devices, whose reading must continue whatever the disk does.
func (r *Recorder) Offer(samples []point.Sample) bool {
	urgent, rest := r.divide(samples)
	accepted := r.offer(r.urgent, urgent)
	return r.offer(r.lane, rest) && accepted
}

func (r *Recorder) offer(l *lane, samples []point.Sample) bool {
	for len(samples) > 0 {
		n := r.portion(samples)
		if _, _, err := r.add(l, samples[:n], false); err != nil {
			r.mu.Lock()
			l.stats.Produced += uint64(len(samples))
			l.stats.Refused += uint64(len(samples))
			r.mu.Unlock()
			return false
		}
		samples = samples[n:]
	}
	return true
}

// add puts the samples into the lane's open block, and closes it when it is full. When the queue is full it
// fails with errFull and returns a channel that is closed when the queue advances.
func (r *Recorder) add(l *lane, samples []point.Sample, wait bool) (*receipt, <-chan struct{}, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
		return nil, nil, fault.E("recorder.Record", fault.Unavailable, "", errStopped)
	case wait && r.paused != nil:
		return nil, nil, r.paused
	case l.open != nil && !l.open.holds(samples, r.cfg.MaxSamples) && !r.closeOpen(l):
		return nil, r.moved, errFull
	}
	for i := range samples {
		if err := check(&samples[i]); err != nil {
			return nil, nil, fault.E("recorder.Record", fault.Invalid, string(samples[i].Point), err)
		}
	}
	b := l.open
	if b == nil {
		b = r.newBatch(l)
	}
	var err error
	if r.ids, err = b.number(r.ids[:0], samples); err != nil {
		return nil, nil, err
	}
	l.open, l.last = b, b.receipt
	b.add(r.ids, samples)
	b.waited = b.waited || wait
	r.added++
	l.stats.Produced += uint64(len(samples))
	l.stats.Pending += uint64(len(samples))
	if b.block.Len() >= r.cfg.MaxSamples {
		r.closeOpen(l)
	}
	select {
	case r.kick <- struct{}{}:
	default:
	}
	return b.receipt, nil, nil
}

// closeOpen queues the lane's open block; false if the queue is full. The caller holds mu.
func (r *Recorder) closeOpen(l *lane) bool {
	select {
	case r.ready <- l.open:
		l.open = nil
		return true
	default:
		return false
	}
}

// Stats returns the current counts of the origin, without those of its urgent lane.
func (r *Recorder) Stats() Stats { return r.Lanes()[0] }

// Lanes returns the counts of the origin, and of its urgent lane, if any.
func (r *Recorder) Lanes() []Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Stats
	for _, l := range r.lanes() {
		s := l.stats
		s.Paused = r.paused
		all = append(all, s)
	}
	return all
}

// await waits until the block is on disk. Nil stands for a block on disk.
func (r *receipt) await(ctx context.Context) error {
	if r == nil {
		return nil
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fault.E("recorder.Record", fault.KindOf(ctx.Err()), "", fmt.Errorf("wait for the disk: %w", ctx.Err()))
	}
}
