package overlay

import (
	"context"
	"slices"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// Aggregate implements store.Store. The store summarises everything before the bucket of the first added
// sample; from that bucket on, samples are read and folded as in every store.
func (s *Store) Aggregate(ctx context.Context, q store.Query) ([]store.Series, error) {
	if err := q.Check("overlay.Aggregate"); err != nil {
		return nil, err
	}
	whole := store.NewPlan(&q).Range()
	plain, mixed := s.part(&whole)
	out := make([]store.Series, len(q.Points))
	if len(plain) > 0 {
		list, err := s.Store.Aggregate(ctx, of(&q, plain))
		if err != nil {
			return nil, err
		}
		for i, at := range plain {
			out[at] = list[i]
		}
	}
	if len(mixed) == 0 {
		return out, nil
	}
	list, err := s.aggregateMixed(ctx, of(&q, mixed), &whole)
	if err != nil {
		return nil, err
	}
	for i, at := range mixed {
		out[at] = list[i]
	}
	return out, nil
}

// of returns the query for some of its points.
func of(q *store.Query, places []int) store.Query {
	part := *q
	part.Points = pick(q.Points, places)
	if q.Extras.Hold != nil {
		part.Extras.Hold = pick(q.Extras.Hold, places)
	}
	return part
}

// aggregateMixed answers for points with added samples.
func (s *Store) aggregateMixed(ctx context.Context, q store.Query, whole *store.Range) ([]store.Series, error) {
	first := whole.To
	for _, p := range q.Points {
		if at := between(s.added[p], whole.From, whole.To)[0].Time; at.Before(first) {
			first = at
		}
	}
	cut := edgeBefore(&q, first)
	if q.Limit > 0 || !cut.After(q.From) {
		return s.fold(ctx, q)
	}
	head, tail := q, q
	head.To, tail.From = cut, cut
	if q.Edges != nil {
		at, _ := slices.BinarySearchFunc(q.Edges, cut, time.Time.Compare)
		head.Edges, tail.Edges = q.Edges[:at+1], q.Edges[at:]
	}
	list, err := s.Store.Aggregate(ctx, head)
	if err != nil {
		return nil, err
	}
	rest, err := s.fold(ctx, tail)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Buckets = slices.Concat(list[i].Buckets, rest[i].Buckets)
	}
	return list, nil
}

// edgeBefore returns the last edge between buckets not after the time; the zero time for none.
func edgeBefore(q *store.Query, t time.Time) time.Time {
	if q.Edges == nil {
		if t.Before(q.From) {
			return time.Time{}
		}
		step := q.Step.Truncate(time.Microsecond)
		return q.From.Add(t.Sub(q.From) / step * step)
	}
	i, found := slices.BinarySearchFunc(q.Edges, t, time.Time.Compare)
	if !found {
		i--
	}
	if i < 1 || i == len(q.Edges)-1 {
		return time.Time{}
	}
	return q.Edges[i]
}

// fold reads all samples of the query's points.
func (s *Store) fold(ctx context.Context, q store.Query) ([]store.Series, error) {
	plan := store.NewPlan(&q)
	whole := plan.Range()
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		fold := plan.Fold(i)
		whole.Points = q.Points[i : i+1]
		err := s.Read(ctx, whole, func(run []point.Sample) error {
			for j := range run {
				fold.Add(run[j].Time.UnixMicro(), run[j].Value, run[j].Quality)
			}
			return plan.Err("overlay.Aggregate")
		})
		if err != nil {
			return nil, err
		}
		out[i] = store.Series{Point: p, Buckets: fold.Buckets()}
	}
	return out, plan.Err("overlay.Aggregate")
}
