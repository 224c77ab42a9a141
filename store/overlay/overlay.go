// Package overlay combines a store with samples that it does not contain, such as those that another node has not sent yet. It
// answers every query like a single store that contains all of them.
package overlay

import (
	"context"
	"slices"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// Samples are samples by point, in time order and one for each time, as established by Order.
type Samples map[point.Path][]point.Sample

// Order sorts samples by time. Of several with the same time the last counts.
func Order(samples []point.Sample) []point.Sample {
	slices.SortStableFunc(samples, byTime)
	kept := samples[:0]
	for i := range samples {
		if i+1 < len(samples) && samples[i+1].Time.Equal(samples[i].Time) {
			continue
		}
		kept = append(kept, samples[i])
	}
	return kept
}

func byTime(a, b point.Sample) int { return a.Time.Compare(b.Time) }

// between returns the samples with from ≤ time < to.
func between(samples []point.Sample, from, to time.Time) []point.Sample {
	first, last := search(samples, from.Truncate(time.Microsecond)), search(samples, to.Truncate(time.Microsecond))
	return samples[first:max(first, last)]
}

func search(samples []point.Sample, t time.Time) int {
	i, _ := slices.BinarySearchFunc(samples, t, func(s point.Sample, t time.Time) int { return s.Time.Compare(t) })
	return i
}

// Store is a store with further samples, which take precedence at equal times. Only reads of samples include
// them: positions, gaps, sizes and all writes are those of the store. It is safe for concurrent use.
type Store struct {
	store.Store
	added Samples
}

var _ store.Store = (*Store)(nil)

// New returns the store with the samples, which must not be modified any more: a store.Exporter if the store
// is a store.MixedExporter.
func New(base store.Store, added Samples) store.Store {
	s := &Store{Store: base, added: added}
	if e, ok := base.(store.MixedExporter); ok {
		return &exporting{s, e}
	}
	return s
}

// Points implements store.Store.
func (s *Store) Points(ctx context.Context) ([]point.Path, error) {
	paths, err := s.Store.Points(ctx)
	if err != nil || len(s.added) == 0 {
		return paths, err
	}
	paths = slices.Clone(paths)
	for p, list := range s.added {
		if len(list) > 0 {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// Latest implements store.Store.
func (s *Store) Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error) {
	newest, err := s.Store.Latest(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		list := s.added[p]
		if n := len(list); n > 0 && (newest[i].Point == "" || !list[n-1].Time.Before(newest[i].Time)) {
			newest[i] = list[n-1]
		}
	}
	return newest, nil
}

// Count implements store.Store.
func (s *Store) Count(ctx context.Context, q store.Query) ([][]uint32, error) {
	if err := q.CheckCount("overlay.Count"); err != nil {
		return nil, err
	}
	plain, mixed := s.part(&q.Range)
	out := make([][]uint32, len(q.Points))
	if len(plain) > 0 {
		counts, err := s.Store.Count(ctx, of(&q, plain))
		if err != nil {
			return nil, err
		}
		for i, at := range plain {
			out[at] = counts[i]
		}
	}
	for _, at := range mixed {
		tally := store.NewTally(&q)
		r := store.Range{Points: q.Points[at : at+1], From: q.From, To: q.To, GoodOnly: true}
		err := s.Read(ctx, r, func(run []point.Sample) error {
			for i := range run {
				tally.Add(run[i].Time.UnixMicro(), 1)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out[at] = tally.Counts()
	}
	return out, nil
}

// part returns the indices of the points without and with added samples in the range.
func (s *Store) part(r *store.Range) (plain, mixed []int) {
	for i, p := range r.Points {
		if len(between(s.added[p], r.From, r.To)) == 0 {
			plain = append(plain, i)
		} else {
			mixed = append(mixed, i)
		}
	}
	return plain, mixed
}

func pick[T any](list []T, places []int) []T {
	out := make([]T, len(places))
	for i, at := range places {
		out[i] = list[at]
	}
	return out
}
