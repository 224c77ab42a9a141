package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// question is asked several times, each time about other points.
type question struct {
	name  string
	times int
	ask1  func(ctx context.Context, st store.Store, n int) (samples int, err error)
}

// questions are those of the budget, and some beside them.
func (s *site) questions() []question {
	end := first().AddDate(0, 0, s.days)
	day := func(d int) (from, to time.Time) { return first().AddDate(0, 0, d), first().AddDate(0, 0, d+1) }
	from, to := day(s.days / 2)
	return []question{
		{"latest of 1", 200, latest(func(n int) []point.Path { return s.paths(n*37, 1) })},
		{"latest of all", 20, latest(func(int) []point.Path { return s.paths(0, s.points) })},
		{"one point, one closed day", 20, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.paths(n*449, 1), From: from, To: to})
		}},
		{"one point, the open day", 20, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.paths(n*449, 1), From: end, To: end.AddDate(0, 0, 1)})
		}},
		{"one point, all closed days", 20, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.paths(n*449, 1), From: first(), To: end})
		}},
		{"one point, closed and open days", 20, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.paths(n*449, 1), From: first(), To: end.AddDate(0, 0, 1)})
		}},
		{"newest 100 of one point", 20, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.paths(n*449, 1), From: first(), To: end, Limit: 100, Newest: true})
		}},
		{"10 points, all closed days", 10, func(ctx context.Context, st store.Store, n int) (int, error) {
			return read(ctx, st, store.Range{Points: s.spread(n*449, 10), From: first(), To: end})
		}},
		{"1,000 neighbouring points hourly, one day", 10, aggregate(func(n int) []point.Path { return s.paths(n*449, 1000) }, from, to)},
		{"1,000 scattered points hourly, one day", 10, aggregate(func(n int) []point.Path { return s.spread(n*449, 1000) }, from, to)},
		{"all points hourly, one day", 3, aggregate(func(int) []point.Path { return s.paths(0, s.points) }, from, to)},
		{"100 scattered points daily, all closed days", 3, aggregate(func(n int) []point.Path { return s.spread(n*449, 100) }, first(), end)},
	}
}

// paths returns n neighbouring points.
func (s *site) paths(start, n int) []point.Path {
	out := make([]point.Path, n)
	for i := range out {
		out[i] = path((start + i) % s.points)
	}
	return out
}

// spread returns n points from all over the site.
func (s *site) spread(start, n int) []point.Path {
	out := make([]point.Path, n)
	for i := range out {
		out[i] = path((start + i*s.points/n) % s.points)
	}
	return out
}

func latest(points func(n int) []point.Path) func(context.Context, store.Store, int) (int, error) {
	return func(ctx context.Context, st store.Store, n int) (int, error) {
		samples, err := st.Latest(ctx, points(n))
		return len(samples), err
	}
}

func read(ctx context.Context, st store.Store, r store.Range) (samples int, err error) {
	err = st.Read(ctx, r, func(run []point.Sample) error {
		samples += len(run)
		return nil
	})
	return samples, err
}

func aggregate(points func(n int) []point.Path, from, to time.Time) func(context.Context, store.Store, int) (int, error) {
	return func(ctx context.Context, st store.Store, n int) (int, error) {
		step := time.Hour
		if to.Sub(from) > 48*time.Hour {
			step = 24 * time.Hour
		}
		series, err := st.Aggregate(ctx, store.Query{Range: store.Range{Points: points(n), From: from, To: to}, Step: step})
		samples := 0
		for _, s := range series {
			for _, b := range s.Buckets {
				samples += int(b.Count)
			}
		}
		return samples, err
	}
}

// ask prints the first, the best, the median and the slowest time of the answers, in milliseconds.
func (q *question) ask(ctx context.Context, st store.Store) error {
	var samples int
	times := make([]time.Duration, 0, q.times)
	for n := range q.times {
		begin := time.Now()
		var err error
		if samples, err = q.ask1(ctx, st, n); err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		times = append(times, time.Since(begin))
	}
	one := times[0]
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(os.Stdout, "| %s | %d | %.3f | %.3f | %.3f | %.3f |\n", q.name, samples, ms(one), ms(times[0]), ms(times[len(times)/2]), ms(times[len(times)-1]))
	return nil
}
