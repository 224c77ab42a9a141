package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/node"
	"voltbus/point"
)

// Writers is a node in a process of its own whose writers record without pause, to be killed.
type Writers struct {
	Config string `json:"config"`
	Count  int    `json:"count"`
	Batch  int    `json:"batch"` // samples in one call
	First  int64  `json:"first"` // number of the first sample of each writer
}

// Wrote is what a writer says before a call, and after its answer.
type Wrote struct {
	Writer       int   `json:"writer"`
	First        int64 `json:"first"`
	Samples      int   `json:"samples"`
	Acknowledged bool  `json:"acknowledged"`
}

const writersKind = "writers"

// Start starts the process. Next reads what it Wrote.
func (w Writers) Start(program []string) (*Child, error) { return Start(program, writersKind, w) }

// WriterPoint is the point of a writer.
func WriterPoint(writer int) point.Path { return point.Path(fmt.Sprint("lab/writer", writer)) }

// numbered are samples whose value is their number, and whose times are a millisecond apart.
func numbered(writer int, first int64, n int) []point.Sample {
	samples := make([]point.Sample, n)
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range samples {
		number := first + int64(i)
		samples[i] = point.Sample{
			Point: WriterPoint(writer), Value: point.IntOf(number),
			Time: begin.Add(time.Duration(number) * time.Millisecond),
		}
	}
	return samples
}

// serveWriters runs a node and its writers in this process.
func serveWriters(ctx context.Context, raw []byte, out io.Writer) error {
	var w Writers
	if err := json.Unmarshal(raw, &w); err != nil {
		return fault.E("rig.Serve", fault.Invalid, writersKind, err)
	}
	memory.Tune()
	cfg, err := config.Load(w.Config, all.Kinds())
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	n, err := node.Open(ctx, node.Options{Config: cfg, Kinds: all.Kinds(), Log: log, Statement: statementCommand})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.Run(ctx) })
	var mu sync.Mutex
	tell := func(o Wrote) error {
		mu.Lock()
		defer mu.Unlock()
		return say(out, o)
	}
	for writer := range w.Count {
		group.Go(func() error { return w.write(ctx, n, writer, tell) })
	}
	return group.Wait()
}

// write records until ctx ends.
func (w *Writers) write(ctx context.Context, n *node.Node, writer int, tell func(Wrote) error) error {
	for first := w.First; ctx.Err() == nil; first += int64(w.Batch) {
		o := Wrote{Writer: writer, First: first, Samples: w.Batch}
		if err := tell(o); err != nil {
			return err
		}
		if err := n.Record(ctx, numbered(writer, first, w.Batch)); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // the process is to end
			}
			return err
		}
		o.Acknowledged = true
		if err := tell(o); err != nil {
			return err
		}
	}
	return nil
}
