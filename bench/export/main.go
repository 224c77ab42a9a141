// Command export measures how fast a history leaves a node over HTTP as CSV, Arrow and Parquet, and the resources that the node needs for
// it. README.md says how.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

// task is what is measured.
type task struct {
	bin     string
	dir     string
	points  int
	samples int
	repeats int
	formats string
}

func main() {
	var t task
	flag.StringVar(&t.bin, "bin", "bin/voltbus", "the program")
	flag.StringVar(&t.dir, "dir", filepath.Join(os.TempDir(), "voltbus-export"), "where the samples are kept for the next run")
	flag.IntVar(&t.points, "points", 1000, "points")
	flag.IntVar(&t.samples, "samples", 10_000_000, "samples in all")
	flag.IntVar(&t.repeats, "repeats", 3, "exports of each format, each by a node that was just started")
	flag.StringVar(&t.formats, "formats", "csv,arrow,parquet", "what is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := t.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func (t *task) run(ctx context.Context) error {
	if err := t.fill(ctx); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "| format | samples | MB | seconds | processor seconds of the node | most memory of the node |")
	fmt.Fprintln(os.Stdout, "| --- | --- | --- | --- | --- | --- |")
	for format := range strings.SplitSeq(t.formats, ",") {
		for range t.repeats {
			if err := t.export(ctx, format); err != nil {
				return fmt.Errorf("%s: %w", format, err)
			}
		}
	}
	return nil
}
