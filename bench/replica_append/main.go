// Command replica_append measures how fast blocks are appended to the log of a replica and acknowledged by a majority of three, and beside it
// to the log of a node alone. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nkeys"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/cluster"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
)

// plan is what is measured.
type plan struct {
	blocks, octets, ahead, repeats int
	dir                            string
}

func main() {
	var p plan
	flag.IntVar(&p.blocks, "blocks", 20_000, "that are appended in a run")
	flag.IntVar(&p.octets, "octets", 10_000, "of a block")
	flag.IntVar(&p.ahead, "ahead", 32, "blocks without an answer at most")
	flag.IntVar(&p.repeats, "repeats", 3, "runs, each with new logs")
	flag.StringVar(&p.dir, "dir", "", "where the logs are; a temporary directory if empty")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := p.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "replica_append:", err)
		os.Exit(1)
	}
}

// run measures one log and three, in turn, and prints the medians.
func (p *plan) run(ctx context.Context) error {
	m := machine.Describe(p.dir)
	fmt.Printf("%s, %d cores, %s, Linux %s, %s, %s, load before: %s\n", m.CPU, m.Cores, m.System, m.Kernel, m.Go, m.Disk, m.Load)
	found := map[int][][]float64{}
	for range max(1, p.repeats) {
		for _, n := range []int{1, 3} {
			figures, err := p.once(ctx, n)
			if err != nil {
				return fmt.Errorf("%d replicas: %w", n, err)
			}
			found[n] = append(found[n], figures)
		}
	}
	for _, n := range []int{1, 3} {
		fmt.Printf("%d log: ", n)
		for i, what := range []string{"blocks/s", "MB/s", "ms to an answer, 50 %", "ms, 99 %"} {
			var list []float64
			for _, figures := range found[n] {
				list = append(list, figures[i])
			}
			slices.Sort(list)
			fmt.Printf("%s %s (%s–%s); ", experiment.Round(list[len(list)/2]), what, experiment.Round(list[0]), experiment.Round(list[len(list)-1]))
		}
		fmt.Println()
	}
	return nil
}

// once opens so many replicas and appends to the log of the first.
func (p *plan) once(ctx context.Context, replicas int) (figures []float64, err error) {
	dir, err := os.MkdirTemp(p.dir, "replica-append-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	buses, err := open(dir, replicas)
	defer func() {
		for _, b := range buses {
			_ = b.Close()
		}
	}()
	if err != nil {
		return nil, err
	}
	var first *blocklog.Log
	for _, b := range buses {
		l, err := b.OpenLog(ctx, blocklog.Config{MaxBytes: 4 << 30})
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = l
		}
	}
	if _, err := p.fill(ctx, first, 0, before); err != nil {
		return nil, err
	}
	began := time.Now()
	times, err := p.fill(ctx, first, before, p.blocks)
	if err != nil {
		return nil, err
	}
	rate := float64(p.blocks) / time.Since(began).Seconds()
	return []float64{rate, rate * float64(p.octets) / 1e6, times.At(50).Seconds() * 1e3, times.At(99).Seconds() * 1e3}, nil
}

// waiting is a block without an answer.
type waiting struct {
	since time.Time
	wait  func(context.Context) error
}

// before is how many blocks are appended before the clock starts.
const before = 200

// fill appends blocks behind the block of a sequence, each as soon as the one that is `ahead` before has its answer. It returns how long the
// answers took.
func (p *plan) fill(ctx context.Context, l *blocklog.Log, behind, blocks int) (*load.Histogram, error) {
	data, times := make([]byte, p.octets), load.NewHistogram()
	var flight []waiting
	for i := 0; i < blocks || len(flight) > 0; i++ {
		if i < blocks {
			since := time.Now()
			wait, err := l.Append(data, uint64(behind+i)) //nolint:gosec // not negative
			if err != nil {
				return nil, err
			}
			if flight = append(flight, waiting{since, wait}); len(flight) < p.ahead {
				continue
			}
		}
		if err := flight[0].wait(ctx); err != nil {
			return nil, err
		}
		times.Add(time.Since(flight[0].since))
		flight = flight[1:]
	}
	return times, nil
}

// key is a node's own.
type key struct {
	nkeys.KeyPair
	public string
}

func (k key) Public() string { return k.public }

// open opens the buses of replicas that know each other; of one, the bus of a node alone.
func open(dir string, replicas int) (buses []*bus.Bus, err error) {
	secret := make([]byte, cluster.KeyBytes)
	addresses, err := free(replicas)
	if err != nil {
		return nil, err
	}
	var all []cluster.Replica
	for i, a := range addresses {
		all = append(all, cluster.Replica{Name: fmt.Sprint("replica", i+1), Address: a})
	}
	for _, r := range all {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return buses, err
		}
		public, err := pair.PublicKey()
		if err != nil {
			return buses, err
		}
		c := bus.Config{Name: r.Name, Dir: filepath.Join(dir, r.Name), Key: key{pair, public}, Log: slog.New(slog.DiscardHandler)}
		if replicas > 1 {
			c.Cluster = cluster.Config{Self: r.Name, Key: secret, Replicas: all}
		}
		b, err := bus.Open(c)
		if err != nil {
			return buses, err
		}
		buses = append(buses, b)
	}
	return buses, nil
}

// free returns addresses of loopback that nobody listens at.
func free(n int) (addresses []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		addresses = append(addresses, l.Addr().String())
	}
	return addresses, nil
}
