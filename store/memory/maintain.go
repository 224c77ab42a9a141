package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"voltbus/store"
)

// Maintain implements store.Store.
func (s *Store) Maintain(ctx context.Context, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx, "memory.Maintain"); err != nil {
		return err
	}
	var bytes int64
	for key, d := range s.days {
		d.closed = now.After(key.End().Add(s.options.Grace))
		if d.closed {
			bytes += d.bytes
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.days)) {
		d := s.days[key]
		tooMuch := s.options.Retention.Bytes > 0 && bytes > s.options.Retention.Bytes && d.closed
		if !tooMuch && !s.options.Retention.Expired(key, now) {
			continue
		}
		if d.closed {
			bytes -= d.bytes
		}
		s.expired += d.samples
		delete(s.days, key)
		for _, ser := range s.series {
			ser.drop(key.Start(), key.End())
		}
	}
	return nil
}

// Stats implements store.Store. Bytes is an estimate of the memory used.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := store.Stats{Points: len(s.series), Replaced: s.replaced, Expired: s.expired, Overwritten: s.overwritten}
	for _, key := range slices.Sorted(maps.Keys(s.days)) {
		d := s.days[key]
		if out.Oldest.IsZero() {
			out.Oldest = key.Start()
		}
		out.Samples += d.samples
		out.Bytes += d.bytes
		if d.closed {
			out.Closed++
		} else {
			out.Open++
		}
	}
	for _, ser := range s.series {
		if n := len(ser.samples); n > 0 && ser.samples[n-1].Time.After(out.Newest) {
			out.Newest = ser.samples[n-1].Time
		}
	}
	return out, s.usable(ctx, "memory.Stats")
}
