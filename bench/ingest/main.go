// Command ingest measures the durable path on one machine: recorder, log, sink and store, in one process with the writers. See README.md
// beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nkeys"
	"golang.org/x/sync/errgroup"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/internal/memory"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store/duckdb"
)

func main() {
	memory.Tune()
	var b bench
	flag.DurationVar(&b.time, "time", 10*time.Second, "how long samples are produced")
	flag.IntVar(&b.points, "points", 10_000, "different points")
	flag.IntVar(&b.writers, "writers", 16, "writers that wait for each answer")
	flag.IntVar(&b.batch, "batch", 10_000, "samples in one call")
	flag.IntVar(&b.rate, "rate", 0, "samples a second that the writers offer together; 0: as many as are answered")
	flag.IntVar(&b.commit, "commit", 400_000, "samples in one transaction of the store")
	flag.IntVar(&b.destinations, "destinations", 0, "destinations that get what is recorded, too")
	flag.StringVar(&b.dir, "dir", "", "directory for the data, on the disk to measure; default: a temporary one")
	flag.StringVar(&b.profile, "cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

type bench struct {
	time                   time.Duration
	points, writers, batch int
	commit, rate           int
	destinations           int
	waited                 delays
	dir, profile           string
}

// signer is a node key in memory.
type signer struct {
	nkeys.KeyPair
	public string
}

func (s signer) Public() string { return s.public }

func newSigner() (signer, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return signer{}, err
	}
	public, err := key.PublicKey()
	return signer{KeyPair: key, public: public}, err
}

func (b *bench) run() (err error) {
	dir, err := os.MkdirTemp(b.dir, "voltbus-bench-ingest")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	key, err := newSigner()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := bus.Open(bus.Config{Name: "bench", Dir: filepath.Join(dir, "log"), Key: key, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	ctx := context.Background()
	blocks, err := server.OpenLog(ctx, blocklog.Config{MaxBytes: 8 << 30})
	if err != nil {
		return err
	}
	st, err := duckdb.Open(ctx, duckdb.Options{Dir: filepath.Join(dir, "store"), Threads: 1, Log: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if b.profile != "" {
		stop, err := profile(b.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	return b.measure(ctx, &chain{
		recorder: recorder.New(recorder.Config{Origin: "bench", Log: log}, blocks, recorder.Start{}),
		sink:     sink.New(sink.Config{Log: log, Samples: b.commit}, blocks, st), log: blocks, dir: dir,
	})
}

func profile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}

// chain is what is measured.
type chain struct {
	recorder *recorder.Recorder
	sink     *sink.Sink
	log      *blocklog.Log
	dir      string
}

func (b *bench) measure(ctx context.Context, c *chain) (err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	group.Go(func() error { return c.recorder.Run(running) })
	group.Go(func() error { return c.sink.Run(running) })
	group.Go(func() error { return memory.Follow(running) }) // as a node does
	d, closed, err := destinations(ctx, b.destinations, c.dir, c.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	group.Go(func() error { return d.Run(running) })
	begin := time.Now()
	if err := b.write(ctx, c.recorder, begin.Add(b.time)); err != nil {
		return err
	}
	acknowledged := c.recorder.Stats().Acknowledged
	report("acknowledged (on disk)", acknowledged, time.Since(begin))
	b.waited.report()
	if b.destinations > 0 {
		fmt.Printf("sent meanwhile           %d samples to %d destinations\n", sent(ctx, d), b.destinations)
	}
	fmt.Printf("backlog of the store     %d samples\n", acknowledged-c.sink.Stats().Samples)
	for c.sink.Stats().Samples < acknowledged {
		time.Sleep(time.Millisecond)
	}
	report("stored (committed)", acknowledged, time.Since(begin))
	state, err := c.log.State(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("log %.2f B a sample, open day in the store %.2f B a sample\n",
		float64(state.Bytes)/float64(acknowledged), float64(size(filepath.Join(c.dir, "store")))/float64(acknowledged))
	fmt.Printf("peak memory %s\n", peakMemory())
	stop()
	return group.Wait()
}

func report(what string, n uint64, took time.Duration) {
	fmt.Printf("%-24s %d samples in %.1f s: %.2f M samples/s\n", what, n, took.Seconds(), float64(n)/took.Seconds()/1e6)
}

// write lets the writers record until the end.
func (b *bench) write(ctx context.Context, r *recorder.Recorder, end time.Time) error {
	paths := make([]point.Path, b.points)
	for i := range paths {
		paths[i] = point.Path(fmt.Sprintf("campus/building%d/device%d/point%d", i/1000, i/18, i%18))
	}
	var mu sync.Mutex
	next, second, calls := 0, 0, 0
	begin := time.Now()
	var group errgroup.Group
	for w := range b.writers {
		group.Go(func() error {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			samples := make([]point.Sample, b.batch)
			for time.Now().Before(end) {
				mu.Lock()
				first, at := next, second
				due := begin.Add(b.due(calls))
				calls++
				if next += b.batch; next >= b.points {
					next, second = next%b.points, second+1
				}
				mu.Unlock()
				fill(samples, paths, first, time.Unix(1_750_000_000+int64(at), 0), rng)
				time.Sleep(time.Until(due))
				asked := time.Now()
				if err := r.Record(ctx, samples); err != nil {
					return err
				}
				b.waited.add(time.Since(asked))
			}
			return nil
		})
	}
	return group.Wait()
}

// due is when a call is to be made at the offered rate; at once without one.
func (b *bench) due(call int) time.Duration {
	if b.rate == 0 {
		return 0
	}
	return time.Duration(float64(call) * float64(b.batch) / float64(b.rate) * float64(time.Second))
}

// fill makes one scan: temperatures with one decimal, all of the same second.
func fill(samples []point.Sample, paths []point.Path, first int, at time.Time, rng *rand.Rand) {
	for i := range samples {
		samples[i] = point.Sample{
			Point: paths[(first+i)%len(paths)], Time: at, Value: point.FloatOf(float64(200+rng.IntN(100)) / 10),
		}
	}
}

func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

func peakMemory() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
