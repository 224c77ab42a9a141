package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/station"
)

// Roles of a process.
const (
	roleBoth       = "both"
	roleSplit      = "split"
	roleOutstation = "outstation"
)

// startLimit is how long the sessions may take to start.
const startLimit = 60 * time.Second

// result is what a run gave.
type result struct {
	messages int64
	elapsed  time.Duration
	cpu      time.Duration // of all processes
	peak     int           // resident kB of this process
	grown    int           // resident kB since before the sessions
}

func (r result) print(o options) {
	rate := float64(r.messages) / r.elapsed.Seconds()
	fmt.Printf("| %s | %d | %d | %.0f | %.2f | %.1f | %d | %.1f |\n", o.role, o.sessions, o.values, rate,
		r.cpu.Seconds()/r.elapsed.Seconds(), float64(r.cpu.Microseconds())/float64(max(r.messages, 1)),
		r.peak, float64(r.grown)/float64(o.sessions))
}

// bed is a running set of channels.
type bed struct {
	ctx     func() context.Context
	hub     *channel.Hub
	running sync.WaitGroup
}

func newBed(ctx context.Context) *bed {
	b := &bed{ctx: func() context.Context { return ctx }, hub: channel.NewHub(0)}
	b.start(b.hub.Run)
	return b
}

func (b *bed) start(run func(ctx context.Context) error) {
	b.running.Go(func() {
		if err := run(b.ctx()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
}

// listen serves an outstation on a port of its own and returns the address.
func (b *bed) listen(port *station.Port) (string, error) {
	listener, err := channel.Listen(b.ctx(), "127.0.0.1:0", nil)
	if err != nil {
		return "", err
	}
	server, err := channel.NewServer(b.hub, channel.ServerConfig{Ports: []*station.Port{port}})
	if err != nil {
		return "", err
	}
	b.start(func(ctx context.Context) error { return server.Run(ctx, listener) })
	return listener.Addr().String(), nil
}

// dial connects a master.
func (b *bed) dial(address string, port *station.Port) error {
	client, err := channel.NewClient(b.hub, channel.ClientConfig{
		Dial: channel.DialTCP(address, nil), Ports: []*station.Port{port},
	})
	if err != nil {
		return err
	}
	b.start(client.Run)
	return nil
}

// measure runs one combination.
func measure(ctx context.Context, o options) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	before := status("VmRSS:")
	b := newBed(ctx)
	defer b.running.Wait()
	defer cancel()
	addresses, begin, peerCPU, err := b.outstations(o)
	if err != nil {
		return result{}, err
	}
	ready := make(chan struct{}, o.sessions)
	sinks := make([]*sink, o.sessions)
	for i := range sinks {
		if sinks[i], err = newSink(i, o.values, ready); err != nil {
			return result{}, err
		}
		sinks[i].then = begin[i]
		if err := b.dial(addresses[i], sinks[i].port); err != nil {
			return result{}, err
		}
	}
	for range sinks {
		select {
		case <-ready:
		case <-ctx.Done():
			return result{}, ctx.Err()
		case <-time.After(startLimit):
			return result{}, errors.New("the sessions did not start: are there enough file descriptors (ulimit -n)?")
		}
	}
	for _, start := range begin {
		if start != nil {
			start()
		}
	}
	return count(ctx, o, sinks, peerCPU, before)
}

// outstations starts the other ends, here or in a process of their own, and returns
// where they listen and what starts the next message of each.
func (b *bed) outstations(o options) (addresses []string, begin []func(), err2 cpuClock, err error) {
	begin = make([]func(), o.sessions)
	if o.role == roleSplit {
		addresses, err2, err = b.spawn(o)
		return addresses, begin, err2, err
	}
	for i := range o.sessions {
		s, err := newSource(i, o.values, false)
		if err != nil {
			return nil, nil, nil, err
		}
		address, err := b.listen(s.port)
		if err != nil {
			return nil, nil, nil, err
		}
		addresses, begin[i] = append(addresses, address), s.update
	}
	return addresses, begin, func() time.Duration { return 0 }, nil
}

// cpuClock returns the processor time of another process.
type cpuClock func() time.Duration

// count lets the sessions run and counts.
func count(ctx context.Context, o options, sinks []*sink, peer cpuClock, before int) (result, error) {
	if err := pause(ctx, o.warmup); err != nil {
		return result{}, err
	}
	runtime.GC()
	start, cpu, messages := time.Now(), used()+peer(), total(sinks)
	if err := pause(ctx, o.duration); err != nil {
		return result{}, err
	}
	r := result{
		messages: total(sinks) - messages, elapsed: time.Since(start), cpu: used() + peer() - cpu,
		peak: status("VmHWM:"), grown: status("VmRSS:") - before,
	}
	for _, s := range sinks {
		if err := s.check(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func total(sinks []*sink) int64 {
	n := int64(0)
	for _, s := range sinks {
		n += s.messages.Load()
	}
	return n
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// used returns the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// status returns a field of this process's status in kB.
func status(field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(text, []byte(field))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return 0
	}
	return n
}

// serve is the second process: it prints where its outstations listen, one a line, and
// answers every line it reads with its processor time, until its input ends.
func serve(ctx context.Context, o options) error {
	ctx, cancel := context.WithCancel(ctx)
	b := newBed(ctx)
	defer b.running.Wait()
	defer cancel()
	sources := make([]*source, o.sessions)
	for i := range sources {
		var err error
		if sources[i], err = newSource(i, o.values, true); err != nil {
			return err
		}
		address, err := b.listen(sources[i].port)
		if err != nil {
			return err
		}
		fmt.Println(address)
	}
	for _, s := range sources {
		s.update() // kept until the master enables reports
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(int64(used()))
	}
	return lines.Err()
}

// spawn starts the second process.
func (b *bed) spawn(o options) ([]string, cpuClock, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(b.ctx(), self, "-role", roleOutstation,
		"-sessions", strconv.Itoa(o.sessions), "-values", strconv.Itoa(o.values))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	b.running.Go(func() {
		<-b.ctx().Done()
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var addresses []string
	for len(addresses) < o.sessions && lines.Scan() {
		addresses = append(addresses, lines.Text())
	}
	if len(addresses) < o.sessions {
		return nil, nil, fmt.Errorf("the second process ended early: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
	}
	return addresses, func() time.Duration { return ask(in, lines) }, nil
}

// ask reads the processor time of the second process.
func ask(in io.Writer, lines *bufio.Scanner) time.Duration {
	if _, err := fmt.Fprintln(in); err != nil || !lines.Scan() {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(n)
}
