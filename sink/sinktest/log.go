// Package sinktest is what every kind of destination must pass, with the real server or one that speaks its protocol: nothing is lost,
// whichever end is killed.
package sinktest

import (
	"context"
	"sync"
	"testing"

	"voltbus/point"
	"voltbus/store"
	"voltbus/wire"
)

// Log is a log in memory. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	entries [][]byte
	samples uint64
	first   uint64 // oldest block that is still there
	grown   chan struct{}
}

// NewLog returns an empty log.
func NewLog() *Log { return &Log{first: 1, grown: make(chan struct{})} }

// ID implements sink.Log.
func (*Log) ID() string { return "log-1" }

// Bounds implements sink.Log.
func (l *Log) Bounds(context.Context) (first, last uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first, uint64(len(l.entries)), nil
}

// Read implements sink.Log.
func (l *Log) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for {
		l.mu.Lock()
		entries, grown, first := l.entries, l.grown, l.first
		l.mu.Unlock()
		for from = max(from, first); from <= uint64(len(entries)); from++ {
			if err := deliver(from, entries[from-1]); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// Add appends a block with samples.
func (l *Log) Add(t testing.TB, samples ...point.Sample) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &point.Block{Origin: "home", Sequence: uint64(len(l.entries) + 1), Before: l.samples}
	index := map[point.Path]uint32{}
	for i := range samples {
		at, known := index[samples[i].Point]
		if !known {
			at = uint32(len(b.Points))
			index[samples[i].Point] = at
			b.Points = append(b.Points, samples[i].Point)
		}
		b.Append(at, &samples[i])
	}
	var e wire.Encoder
	data, err := e.AppendBlock(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	l.entries = append(l.entries, data)
	l.samples += uint64(len(samples))
	close(l.grown)
	l.grown = make(chan struct{})
}

// Drop forgets the blocks before one, as a log does that is full.
func (l *Log) Drop(before uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.first = before
}

// History is a history in memory.
type History struct {
	Log     *Log
	Samples map[point.Path][]point.Sample // in the order of time
}

// Cursor implements destination.History: it has all of the log.
func (h *History) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	_, last, err := h.Log.Bounds(ctx)
	return h.Log.ID(), last, err
}

// Points implements destination.History.
func (h *History) Points(context.Context) (list []point.Path, err error) {
	for path := range h.Samples {
		list = append(list, path)
	}
	return list, nil
}

// Read implements destination.History.
func (h *History) Read(_ context.Context, r store.Range, emit func([]point.Sample) error) error {
	for _, path := range r.Points {
		var part []point.Sample
		for _, s := range h.Samples[path] {
			if !s.Time.Before(r.From) && s.Time.Before(r.To) {
				part = append(part, s)
			}
		}
		if err := emit(part); err != nil {
			return err
		}
	}
	return nil
}
