// Command postgres compares the PostgreSQL store, with partitions and with hypertables of TimescaleDB, with the DuckDB store: the
// same samples through the log and the sink of a node into each, then the same questions. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nkeys"
	"golang.org/x/sync/errgroup"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/internal/memory"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/postgres"
	"voltbus/testing/peers"
)

func main() {
	memory.Tune()
	var b bench
	flag.IntVar(&b.points, "points", 10_000, "different points")
	flag.IntVar(&b.scans, "scans", 2000, "scans of all points, a minute apart")
	flag.IntVar(&b.commit, "commit", 400_000, "samples in one transaction of the store")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

type bench struct {
	points, scans, commit int
}

// signer is a node key in memory.
type signer struct {
	nkeys.KeyPair
	public string
}

func (s signer) Public() string { return s.public }

func (b *bench) run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "voltbus-bench-postgres")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file, err := duckdb.Open(ctx, duckdb.Options{Dir: filepath.Join(dir, "duckdb"), Threads: 1})
	if err != nil {
		return err
	}
	err = b.measure(ctx, "DuckDB", dir, file)
	if err = errors.Join(err, file.Close()); err != nil { //nolint:contextcheck // a store is closed whatever became of the context
		return err
	}
	if err := b.database(ctx, "PostgreSQL", dir, peers.StartPostgreSQL); err != nil {
		return err
	}
	err = b.database(ctx, "TimescaleDB", dir, peers.StartTimescaleDB)
	if errors.Is(err, peers.ErrNoTimescaleDB) {
		fmt.Println("not measured:", err)
		return nil
	}
	return err
}

// database measures a PostgreSQL of its own.
func (b *bench) database(ctx context.Context, name, dir string, start func(settings ...string) (*peers.PostgreSQL, error)) (err error) {
	server, err := start("shared_buffers=1GB", "max_wal_size=4GB")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Remove()) }()
	db, err := postgres.Open(ctx, postgres.Options{URL: server.URL("voltbus", "voltbus"), Writer: "bench"})
	if err != nil {
		return err
	}
	return errors.Join(b.measure(ctx, name, dir, db), db.Close()) //nolint:contextcheck // a store is closed whatever became of the context
}

// measure fills a store through a log and a sink of its own, and asks it.
func (b *bench) measure(ctx context.Context, name, dir string, st store.Store) error {
	key, err := nkeys.CreateUser()
	if err != nil {
		return err
	}
	public, err := key.PublicKey()
	if err != nil {
		return err
	}
	server, err := bus.Open(bus.Config{Name: "bench", Dir: filepath.Join(dir, "log of "+name), Key: signer{key, public}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	blocks, err := server.OpenLog(ctx, blocklog.Config{MaxBytes: 8 << 30})
	if err == nil {
		err = b.fill(ctx, name, blocks, st)
	}
	if err = errors.Join(err, server.Close()); err != nil {
		return err
	}
	if err := st.Maintain(ctx, b.time(b.scans)); err != nil {
		return err
	}
	stats, err := st.Stats(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("| %s | bytes a sample | %.1f |\n", name, float64(stats.Bytes)/float64(stats.Samples))
	return b.ask(ctx, name, st)
}

// fill records all scans and waits until they are committed in the store.
func (b *bench) fill(ctx context.Context, name string, blocks *blocklog.Log, st store.Store) error {
	r := recorder.New(recorder.Config{Origin: "bench"}, blocks, recorder.Start{})
	s := sink.New(sink.Config{Samples: b.commit}, blocks, st)
	running, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error { return r.Run(running) })
	group.Go(func() error { return s.Run(running) })
	begin := time.Now()
	samples := make([]point.Sample, b.points)
	for scan := range b.scans {
		for i := range samples {
			samples[i] = point.Sample{Point: path(i), Time: b.time(scan), Value: point.FloatOf(float64(200+(i*7+scan*13)%100) / 10)}
		}
		if err := r.Record(ctx, samples); err != nil {
			return err
		}
	}
	total := uint64(b.points * b.scans)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for s.Stats().Samples < total {
		if err := s.Stats().Err; err != nil {
			return err
		}
		<-tick.C
	}
	took := time.Since(begin)
	fmt.Printf("| %s | recorded and stored, samples/s | %.0f |\n", name, float64(total)/took.Seconds())
	stop()
	return group.Wait()
}

// time is when a scan was.
func (b *bench) time(scan int) time.Time {
	return time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(scan) * time.Minute)
}

func path(i int) point.Path {
	return point.Path(fmt.Sprintf("campus/b%03d/ahu%d/point_%02d", i/100, i%100/10, i%10))
}

// paths are n points that lie apart, beginning with one.
func (b *bench) paths(n, first int) []point.Path {
	out := make([]point.Path, n)
	for i := range out {
		out[i] = path((first + i*(b.points/n)) % b.points)
	}
	return out
}

// ask asks each question some times, about other points each time.
func (b *bench) ask(ctx context.Context, name string, st store.Store) error {
	day := store.Range{From: b.time(0), To: b.time(24 * 60)}
	none := func([]point.Sample) error { return nil }
	hourly := func(points []point.Path) store.Query {
		r := day
		r.Points = points
		return store.Query{Range: r, Step: time.Hour}
	}
	for _, q := range []struct {
		text string
		do   func(i int) error
	}{
		{"latest of 1", func(i int) error { _, err := st.Latest(ctx, b.paths(1, i)); return err }},
		{"latest of all points", func(i int) error { _, err := st.Latest(ctx, b.paths(b.points, i)); return err }},
		{"one point, one closed day", func(i int) error { r := day; r.Points = b.paths(1, i); return st.Read(ctx, r, none) }},
		{"newest 100 of one point", func(i int) error {
			return st.Read(ctx, store.Range{Points: b.paths(1, i), From: b.time(0), To: b.time(b.scans), Limit: 100, Newest: true}, none)
		}},
		{"100 scattered points hourly, one day", func(i int) error { _, err := st.Aggregate(ctx, hourly(b.paths(100, i))); return err }},
		{"1,000 scattered points hourly, one day", func(i int) error { _, err := st.Aggregate(ctx, hourly(b.paths(1000, i))); return err }},
		{"1,000 scattered points counted hourly, one day", func(i int) error { _, err := st.Count(ctx, hourly(b.paths(1000, i))); return err }},
	} {
		best, worst := time.Hour, time.Duration(0)
		for i := range 5 {
			begin := time.Now()
			if err := q.do(i * 37); err != nil {
				return err
			}
			took := time.Since(begin)
			best, worst = min(best, took), max(worst, took)
		}
		fmt.Printf("| %s | %s, ms | %.1f – %.1f |\n", name, q.text, best.Seconds()*1e3, worst.Seconds()*1e3)
	}
	return nil
}
