// Command ingest measures the durable path on one machine: recorder, log, store, all in one
// process. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
	"golang.org/x/sync/errgroup"

	"voltbus/bus"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
)

func main() {
	seconds := flag.Int("seconds", 10, "how long samples are produced")
	points := flag.Int("points", 10_000, "different points")
	writers := flag.Int("writers", 4, "writers that wait for each answer")
	batch := flag.Int("batch", 10_000, "samples in one call")
	dir := flag.String("dir", "", "where the data goes; default: a temporary directory")
	null := flag.Bool("null", false, "leave the store out: measures recorder and log alone")
	flag.Parse()
	if err := run(*dir, *seconds, *points, *writers, *batch, *null); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

type nullStore struct{ n int }

func (s *nullStore) Append(_ context.Context, blocks []*point.Block) (store.Result, error) {
	n := 0
	for _, b := range blocks {
		n += b.Len()
	}
	s.n += n
	return store.Result{Stored: n}, nil
}

func (s *nullStore) Cursor(context.Context) (string, uint64, error) { return "", 0, nil }

type signer struct{ nkeys.KeyPair }

func (s signer) Public() string { p, _ := s.PublicKey(); return p }

func run(dir string, seconds, points, writers, batch int, null bool) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "ingest")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	key, _ := nkeys.CreateUser()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b, err := bus.Open(bus.Config{Name: "bench", Dir: filepath.Join(dir, "log"), Key: signer{key}, Log: log})
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l, err := b.OpenLog(ctx, bus.LogConfig{MaxBytes: 4 << 30})
	if err != nil {
		return err
	}
	var st sink.Store = &nullStore{}
	if !null {
		return errors.New("no store yet")
	}
	r := recorder.New(recorder.Config{Origin: "bench", Log: log}, l, recorder.Start{})
	s := sink.New(sink.Config{Log: log}, l, st)
	pf, _ := os.Create("/tmp/cpu.prof")
	pprof.StartCPUProfile(pf)
	defer pprof.StopCPUProfile()
	group, ctx := errgroup.WithContext(ctx)
	rctx, stopRecorder := context.WithCancel(ctx)
	sctx, stopSink := context.WithCancel(ctx)
	group.Go(func() error { return r.Run(rctx) })
	group.Go(func() error { return s.Run(sctx) })
	start := time.Now()
	end := start.Add(time.Duration(seconds) * time.Second)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			paths := make([]point.Path, points)
			for i := range paths {
				paths[i] = point.Path(fmt.Sprintf("campus/building%d/device%d/point%d", i/1000, i/18, i%18))
			}
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			samples := make([]point.Sample, batch)
			at := start.UTC()
			next := w * batch
			for time.Now().Before(end) {
				for i := range samples {
					samples[i] = point.Sample{Point: paths[next%points], Time: at, Value: point.FloatOf(float64(200+rng.IntN(100)) / 10)}
					next++
					if next%points == 0 {
						at = at.Add(time.Second)
					}
				}
				if err := r.Record(ctx, samples); err != nil {
					fmt.Fprintln(os.Stderr, err)
					return
				}
			}
		})
	}
	wg.Wait()
	acked := r.Stats().Acknowledged
	d := time.Since(start)
	fmt.Printf("acknowledged %d in %.1fs: %.2f M/s\n", acked, d.Seconds(), float64(acked)/d.Seconds()/1e6)
	for s.Stats().Samples < acked {
		time.Sleep(time.Millisecond)
	}
	d = time.Since(start)
	fmt.Printf("stored %d in %.1fs: %.2f M/s\n", s.Stats().Samples, d.Seconds(), float64(s.Stats().Samples)/d.Seconds()/1e6)
	state, _ := l.State(ctx)
	fmt.Printf("log %.2f B/sample\n", float64(state.Bytes)/float64(acked))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("heap sys %d MB\n", m.HeapSys>>20)
	stopRecorder()
	stopSink()
	return group.Wait()
}
