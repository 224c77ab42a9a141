// Command export measures how fast a history leaves the store as Parquet and Arrow.
// README.md says how.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"voltbus/api/arrowstream"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

func main() {
	dir := flag.String("dir", "", "where the samples are kept for the next run; required")
	points := flag.Int("points", 1000, "points")
	samples := flag.Int("samples", 10_000_000, "samples in all")
	flag.Parse()
	if err := run(context.Background(), *dir, *points, *samples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func first() time.Time { return time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC) }

func run(ctx context.Context, dir string, points, samples int) error {
	st, err := duckdb.Open(ctx, duckdb.Options{Dir: dir, MemoryLimit: 200 << 20})
	if err != nil {
		return err
	}
	defer st.Close()
	paths, err := fill(ctx, st, points, samples/points)
	if err != nil {
		return err
	}
	whole := store.Range{Points: paths, From: first(), To: first().AddDate(1, 0, 0)}
	return measure(ctx, st, whole, dir)
}

// fill stores a scan of all points each minute, and closes the days, unless that was done before.
func fill(ctx context.Context, st *duckdb.Store, points, scans int) ([]point.Path, error) {
	b := point.Block{Origin: "bench"}
	for i := range points {
		b.Points = append(b.Points, point.Path(fmt.Sprintf("campus/b%03d/ahu%d/point_%02d", i/100, i%100/10, i%10)))
	}
	positions, err := st.Positions(ctx)
	if err != nil || positions["bench"].Sequence > 0 {
		return b.Points, err
	}
	for scan := range scans {
		next := point.Block{Origin: "bench", Sequence: uint64(scan + 1), Before: uint64(scan * points), Points: b.Points}
		at := first().Add(time.Duration(scan) * time.Minute)
		for i := range points {
			v := point.FloatOf(20 + float64((scan+i*7)%400)/10)
			next.Append(uint32(i), &point.Sample{Time: at, Value: v})
		}
		if _, err := st.Append(ctx, []*point.Block{&next}); err != nil {
			return nil, err
		}
	}
	return b.Points, st.Maintain(ctx, first().AddDate(1, 0, 0))
}

func measure(ctx context.Context, st *duckdb.Store, r store.Range, dir string) error {
	begin := time.Now()
	file := filepath.Join(dir, "export.parquet")
	n, err := st.ExportParquet(ctx, r, file)
	if err != nil {
		return err
	}
	report("parquet", int(n), time.Since(begin))
	begin = time.Now()
	out, rows := arrowstream.New(io.Discard), 0
	err = st.Read(ctx, r, func(run []point.Sample) error {
		rows += len(run)
		return out.Write(run)
	})
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	report("arrow", rows, time.Since(begin))
	begin, rows = time.Now(), 0
	err = st.Read(ctx, r, func(run []point.Sample) error { rows += len(run); return nil })
	report("read", rows, time.Since(begin))
	return err
}

func report(what string, n int, took time.Duration) {
	fmt.Fprintf(os.Stdout, "| %s | %d | %.2f s |\n", what, n, took.Seconds())
}
