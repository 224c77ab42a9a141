// Command sse measures the cost of readers of the live stream: it runs the program as a node with simulated devices, reads /api/v1/stream
// many times from this process, and asks the kernel for the node's processor time. See README.md beside it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"voltbus/identity"
	"voltbus/lab/machine"
	"voltbus/node"
)

// plan is what is measured.
type plan struct {
	bin      string
	points   int // a second, all with an interval of a second
	scans    int // devices that they are spread over
	readers  int
	patterns int // different ones that the readers ask for
	time     time.Duration
	runs     int
}

func main() {
	p := plan{}
	flag.StringVar(&p.bin, "bin", "bin/voltbus", "the program")
	flag.IntVar(&p.points, "points", 1000, "points, each read once a second")
	flag.IntVar(&p.scans, "devices", 1000, "devices that the points are spread over; each gives one event a second")
	flag.IntVar(&p.readers, "readers", 200, "readers")
	flag.IntVar(&p.patterns, "patterns", 1, "different patterns that the readers ask for; each selects everything")
	flag.DurationVar(&p.time, "time", 10*time.Second, "how long is measured")
	flag.IntVar(&p.runs, "runs", 3, "runs, of which the median is given")
	flag.Parse()
	if err := p.measure(); err != nil {
		fmt.Fprintln(os.Stderr, "sse:", err)
		os.Exit(1)
	}
}

const site = `node: {name: bench}
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
devices:
  - {path: "site/d{n}", driver: sim, interval: 1s, group: all, stagger: 1s, count: %d, config: {model: random, points: %d}}
`

// measure runs the node and prints the cost of the readers beside that of the node without any.
func (p *plan) measure() (err error) {
	dir, err := os.MkdirTemp("", "voltbus-bench-sse")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, site, p.scans, max(1, p.points/p.scans)), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute+time.Duration(p.runs)*(2*p.time+time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.bin, "run", "--config", file, "--log-level", "error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGINT), cmd.Wait()) }()
	at, err := find(ctx, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	var cores []float64
	for range p.runs {
		c, err := p.once(ctx, at, cmd.Process.Pid)
		if err != nil {
			return err
		}
		cores = append(cores, c)
	}
	slices.Sort(cores)
	fmt.Printf("median: the readers cost the node %.3f cores\n", cores[len(cores)/2])
	return nil
}

// once measures the node without readers, then with them, and returns the difference in cores.
func (p *plan) once(ctx context.Context, at place, pid int) (float64, error) {
	alone, err := cores(pid, p.time)
	if err != nil {
		return 0, err
	}
	c, err := join(ctx, at, p.readers, p.patterns)
	if err != nil {
		return 0, err
	}
	before := c.counts()
	with, err := cores(pid, p.time)
	if err != nil {
		return 0, errors.Join(err, c.leave())
	}
	n := c.counts().minus(before)
	if err := c.leave(); err != nil {
		return 0, err
	}
	events := float64(n.events) / p.time.Seconds()
	fmt.Printf("alone %.3f cores, with %d readers %.3f; each reader got %.0f events/s, %.0f points/s; %.2f µs of the node per event delivered; %.1f reads/s a reader\n",
		alone, p.readers, with, events/float64(p.readers), float64(n.points)/p.time.Seconds()/float64(p.readers),
		(with-alone)*1e6/events, float64(n.reads)/p.time.Seconds()/float64(p.readers))
	return with - alone, nil
}

// cores returns how many cores a process kept busy over a time.
func cores(pid int, over time.Duration) (float64, error) {
	m := machine.NewMeter(pid)
	if _, err := m.Usage(); err != nil {
		return 0, err
	}
	time.Sleep(over)
	u, err := m.Usage()
	if err != nil {
		return 0, err
	}
	return u.Cores(), nil
}

// place is where the node answers, and to whom.
type place struct{ url, token string }

// find waits until the node listens.
func find(ctx context.Context, data string) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if at, err := look(data); err == nil {
			return at, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return place{}, errors.New("the node does not start")
}

func look(data string) (place, error) {
	text, err := os.ReadFile(filepath.Join(data, node.AddressFile))
	if err != nil {
		return place{}, err
	}
	var a node.Addresses
	if err := json.Unmarshal(text, &a); err != nil {
		return place{}, err
	}
	token, err := identity.ReadToken(filepath.Join(data, identity.AdminTokenFile))
	return place{a.HTTP, token}, err
}
