package memory

import (
	"context"
	"maps"
	"slices"

	"voltbus/point"
	"voltbus/store"
)

// Points implements store.Store.
func (s *Store) Points(ctx context.Context) ([]point.Path, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.series)), s.usable(ctx, "memory.Points")
}

// Latest implements store.Store.
func (s *Store) Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx, "memory.Latest"); err != nil {
		return nil, err
	}
	out := make([]point.Sample, len(paths))
	for i, p := range paths {
		if ser := s.series[p]; ser != nil && len(ser.samples) > 0 {
			out[i] = ser.samples[len(ser.samples)-1]
		}
	}
	return out, nil
}

// Read implements store.Store. It calls emit once for each point that has samples.
func (s *Store) Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	if err := r.Check("memory.Read"); err != nil {
		return err
	}
	for _, p := range r.Points {
		samples, err := s.selected(ctx, p, &r)
		if err != nil {
			return err
		}
		if len(samples) == 0 {
			continue
		}
		if err := emit(samples); err != nil {
			return err
		}
	}
	return nil
}

// selected returns a copy of the samples of p that r selects, so that emit may call the store.
func (s *Store) selected(ctx context.Context, p point.Path, r *store.Range) ([]point.Sample, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx, "memory.Read"); err != nil {
		return nil, err
	}
	ser := s.series[p]
	if ser == nil {
		return nil, nil
	}
	samples := slices.Clone(ser.between(r.From, r.To))
	if r.GoodOnly {
		samples = slices.DeleteFunc(samples, func(s point.Sample) bool { return s.Quality.IsBad() })
	}
	if r.Limit > 0 && len(samples) > r.Limit {
		if r.Newest {
			return samples[len(samples)-r.Limit:], nil
		}
		return samples[:r.Limit], nil
	}
	return samples, nil
}

// Aggregate implements store.Store.
func (s *Store) Aggregate(ctx context.Context, q store.Query) ([]store.Series, error) {
	if err := q.Check("memory.Aggregate"); err != nil {
		return nil, err
	}
	plan := store.NewPlan(&q)
	whole := plan.Range()
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		samples, err := s.selected(ctx, p, &whole)
		if err != nil {
			return nil, err
		}
		fold := plan.Fold(i)
		for j := range samples {
			fold.Add(samples[j].Time.UnixMicro(), samples[j].Value, samples[j].Quality)
		}
		out[i] = store.Series{Point: p, Buckets: fold.Buckets()}
		if err := plan.Err("memory.Aggregate"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Count implements store.Store.
func (s *Store) Count(ctx context.Context, q store.Query) ([][]uint32, error) {
	if err := q.CheckCount("memory.Count"); err != nil {
		return nil, err
	}
	out := make([][]uint32, len(q.Points))
	for i, p := range q.Points {
		samples, err := s.selected(ctx, p, &store.Range{From: q.From, To: q.To, GoodOnly: true})
		if err != nil {
			return nil, err
		}
		tally := store.NewTally(&q)
		for j := range samples {
			tally.Add(samples[j].Time.UnixMicro(), 1)
		}
		out[i] = tally.Counts()
	}
	return out, nil
}
