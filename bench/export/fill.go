package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"voltbus/point"
	"voltbus/store/duckdb"
)

func first() time.Time { return time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC) }

// fill stores a scan of all points each minute, and closes the days that have ended by then, unless
// that was done before.
func (t *task) fill(ctx context.Context) error {
	st, err := duckdb.Open(ctx, duckdb.Options{Dir: filepath.Join(t.dir, "data", "store")})
	if err != nil {
		return err
	}
	stats, err := st.Stats(ctx)
	if err == nil && stats.Samples == 0 {
		err = t.scan(ctx, st)
	}
	return errors.Join(err, st.Close()) //nolint:contextcheck // a store is closed whatever became of the context
}

// scan stores values that wander, every fourth with all digits that a double has.
func (t *task) scan(ctx context.Context, st *duckdb.Store) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same values in every run
	b := point.Block{Origin: "bench"}
	values := make([]float64, t.points)
	for i := range values {
		b.Points = append(b.Points, point.Path(fmt.Sprintf("campus/b%03d/ahu%d/point_%02d", i/100, i%100/10, i%10)))
		values[i] = 200 + float64(i%100)
	}
	at := first()
	for n := range t.samples / t.points {
		next := point.Block{Origin: "bench", Sequence: uint64(n + 1), Before: uint64(n * t.points), Points: b.Points}
		for i := range values {
			v := values[i] / 10
			if values[i] += float64(random.IntN(3) - 1); i%4 == 0 {
				v += random.Float64() / 10
			}
			next.Append(uint32(i), &point.Sample{Time: at, Value: point.FloatOf(v)})
		}
		if _, err := st.Append(ctx, []*point.Block{&next}); err != nil {
			return err
		}
		at = at.Add(time.Minute)
	}
	return st.Maintain(ctx, at)
}
