// Command points measures the cost of a node's points: registrations a second, memory per point, and the time of a start, a search and
// their readings. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

func main() {
	var b bench
	counts := flag.String("points", "100000,1000000", "how many points, one after another")
	serve := flag.String("serve", "", "be the node with its data in this directory, until the input ends; the command starts itself so")
	flag.StringVar(&b.dir, "dir", "", "directory for the data, on the disk to measure; default: a temporary one")
	flag.StringVar(&b.profile, "cpuprofile", "", "folder for CPU and heap profiles of the node")
	flag.IntVar(&b.senders, "senders", 4, "connections, each with one request at a time")
	flag.IntVar(&b.batch, "batch", 10_000, "readings in one request")
	flag.DurationVar(&b.time, "time", 10*time.Second, "how long readings of known points are sent")
	flag.DurationVar(&b.idle, "idle", 20*time.Second, "how long a node rests before its memory is read")
	flag.BoolVar(&b.scattered, "scattered", false, "new points come in no order")
	flag.Parse()
	if err := b.run(*serve, *counts); err != nil {
		fmt.Fprintln(os.Stderr, "points:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, profile   string
	senders, batch int
	time, idle     time.Duration
	scattered      bool
}

// small is how many points a node has that the others are compared with.
const small = 10_000

func (b *bench) run(serve, counts string) error {
	if serve != "" {
		return beNode(serve, b.profile)
	}
	fmt.Printf("%d processors, %d senders, %d readings a request\n", runtime.NumCPU(), b.senders, b.batch)
	base, err := b.measure(small)
	if err != nil {
		return err
	}
	for text := range strings.SplitSeq(counts, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		got, err := b.measure(n)
		if err != nil {
			return fmt.Errorf("%d points: %w", n, err)
		}
		fmt.Printf("  compared with %d points: %.0f %% of the rate; %.0f B a point resident when filled, %.0f B after a start\n",
			small, 100*got.rate/base.rate, each(got.filled-base.filled, n), each(got.started-base.started, n))
	}
	return nil
}

func each(bytes int64, points int) float64 { return float64(bytes) / float64(points-small) }

// result is what is compared between nodes.
type result struct {
	rate            float64 // readings of known points a second
	filled, started int64   // resident bytes, at rest
}

// measure fills a new node with n points, sends readings of them, starts it again and searches.
func (b *bench) measure(n int) (r result, err error) {
	dir, err := os.MkdirTemp(b.dir, "voltbus-bench-points")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	fmt.Printf("%d points\n", n)
	if r.rate, r.filled, err = b.fill(ctx, dir, n); err != nil {
		return r, err
	}
	r.started, err = b.again(ctx, dir, n)
	return r, err
}

func (b *bench) fill(ctx context.Context, dir string, n int) (rate float64, resident int64, err error) {
	node, err := b.start(ctx, dir, "fill-"+strconv.Itoa(n))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, node.stop()) }()
	s := newSending(b, node, n)
	took, err := s.round(ctx)
	if err != nil {
		return 0, 0, err
	}
	fmt.Printf("  registered in %.2f s: %.0f new points/s; peak memory %d MB\n", took.Seconds(), float64(n)/took.Seconds(), node.memory("VmHWM:")>>20)
	if rate, err = s.readings(ctx); err != nil {
		return 0, 0, err
	}
	fmt.Printf("  readings of them %.0f/s; peak memory %d MB\n", rate, node.memory("VmHWM:")>>20)
	time.Sleep(b.idle)
	resident, err = node.atRest("at rest")
	return rate, resident, err
}

// again starts the node that was filled.
func (b *bench) again(ctx context.Context, dir string, n int) (resident int64, err error) {
	begin := time.Now()
	node, err := b.start(ctx, dir, "start-"+strconv.Itoa(n))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, node.stop()) }()
	fmt.Printf("  started in %.2f s\n", time.Since(begin).Seconds())
	time.Sleep(b.idle)
	if resident, err = node.atRest("at rest after the start"); err != nil {
		return 0, err
	}
	return resident, search(ctx, node, n)
}
