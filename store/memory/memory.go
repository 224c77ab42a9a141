// Package memory is a store in memory: the reference for other stores, and the store of tests and of nodes that need no history after a
// restart.
package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

var errClosed = errors.New("the store is closed")

// Options configure a Store. The zero Options keep everything.
type Options struct {
	Retention store.Retention
	Grace     time.Duration // how long after its end a day counts as open
}

// Store implements store.Store. It is safe for concurrent use.
type Store struct {
	options Options

	mu          sync.RWMutex
	closed      bool
	ledger      *store.Ledger
	gaps        []store.Gap // oldest first
	series      map[point.Path]*series
	days        map[store.Day]*day
	replaced    uint64
	expired     uint64
	overwritten uint64
}

// day is what is known about the samples of one UTC day.
type day struct {
	samples uint64
	bytes   int64
	closed  bool
}

var _ store.Store = (*Store)(nil)

// New returns an empty store.
func New(o Options) *Store {
	return &Store{
		options: o,
		ledger:  store.NewLedger(nil, store.Cursor{}),
		series:  make(map[point.Path]*series),
		days:    make(map[store.Day]*day),
	}
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	if err := store.CheckBlocks("memory.Append", blocks); err != nil {
		return store.Result{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx, "memory.Append"); err != nil {
		return store.Result{}, err
	}
	entry := s.ledger.Post(blocks, time.Now())
	for _, b := range entry.Blocks {
		s.append(b)
	}
	s.gaps = append(s.gaps, entry.Gaps...)
	s.ledger.Apply(&entry)
	return entry.Result, nil
}

func (s *Store) append(b *point.Block) {
	for i := range b.Len() {
		path := b.Points[b.Point[i]]
		ser := s.series[path]
		if ser == nil {
			ser = &series{}
			s.series[path] = ser
		}
		sample := b.Sample(i)
		old, replaced := ser.put(sample)
		d := s.day(b.Time[i])
		d.samples++
		d.bytes += size(&sample)
		if replaced {
			d.samples--
			d.bytes -= size(&old)
			s.replaced++
			if old.Value != sample.Value || old.Quality != sample.Quality {
				s.overwritten++
			}
		}
	}
}

func (s *Store) day(micros int64) *day {
	key := store.DayOf(micros)
	d := s.days[key]
	if d == nil {
		d = &day{}
		s.days[key] = d
	}
	return d
}

// size is the approximate memory of a sample.
func size(s *point.Sample) int64 { return int64(96 + len(s.Value.Text())) }

// Positions implements store.Store.
func (s *Store) Positions(ctx context.Context) (map[string]store.Position, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ledger.Positions(), s.usable(ctx, "memory.Positions")
}

// Cursor implements store.Store.
func (s *Store) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.ledger.Cursor()
	return c.Log, c.Sequence, s.usable(ctx, "memory.Cursor")
}

// Gaps implements store.Store.
func (s *Store) Gaps(ctx context.Context, limit int) ([]store.Gap, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	gaps := slices.Clone(s.gaps)
	slices.Reverse(gaps)
	return gaps[:max(0, min(limit, len(gaps)))], s.usable(ctx, "memory.Gaps")
}

// Close implements store.Store. The samples are lost.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.series, s.days = nil, nil
	return nil
}

// usable returns the error for a call that comes after Close or with an ended context.
func (s *Store) usable(ctx context.Context, op string) error {
	if s.closed {
		return fault.E(op, fault.Unavailable, "", errClosed)
	}
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	return nil
}
