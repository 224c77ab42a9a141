// Command store_query measures how fast the DuckDB store answers when it holds 100 million samples of 10,000 points, a month of them;
// README.md has the method and figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"time"

	"voltbus/store/duckdb"
)

// site is the size of what is stored.
type site struct {
	dir    string
	points int
	days   int // closed; one half day more stays open
}

func main() {
	s := site{}
	flag.StringVar(&s.dir, "dir", filepath.Join(os.TempDir(), "voltbus-store-query"), "where the samples are kept for the next run")
	flag.IntVar(&s.points, "points", 10_000, "number of points")
	flag.IntVar(&s.days, "days", 30, "number of closed days")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, s)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s site) error {
	begin := time.Now()
	st, err := duckdb.Open(ctx, duckdb.Options{Dir: s.dir})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "| open the store | %v |\n", time.Since(begin).Round(time.Millisecond))
	fmt.Fprintf(os.Stdout, "| resident memory after opening | %d MB |\n", resident())
	return errors.Join(measure(ctx, s, st), st.Close()) //nolint:contextcheck // a store is closed whatever became of the context
}

func measure(ctx context.Context, s site, st *duckdb.Store) error {
	if err := s.fill(ctx, st); err != nil {
		return err
	}
	if err := describe(ctx, st); err != nil {
		return err
	}
	if err := s.describeFiles(); err != nil {
		return err
	}
	for _, q := range s.questions() {
		if err := q.ask(ctx, st); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stdout, "| resident memory after the questions | %d MB |\n", resident())
	debug.FreeOSMemory() // what Go does by itself within some minutes of rest
	fmt.Fprintf(os.Stdout, "| resident memory at rest | %d MB |\n", resident())
	return nil
}

// resident returns the memory of this process in megabytes, 0 where the system does not report it.
func resident() int {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	if _, err := fmt.Sscan(string(data), &size, &pages); err != nil {
		return 0
	}
	return pages * os.Getpagesize() >> 20
}
