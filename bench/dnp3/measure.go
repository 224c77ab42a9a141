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
	"runtime/pprof"
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
	hub     *channel.Hub
	running sync.WaitGroup
}

func newBed(ctx context.Context) *bed {
	b := &bed{hub: channel.NewHub(0)}
	b.start(ctx, b.hub.Run)
	return b
}

func (b *bed) start(ctx context.Context, run func(ctx context.Context) error) {
	b.running.Go(func() {
		if err := run(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
}

// listen serves an outstation on a port of its own and returns the address.
func (b *bed) listen(ctx context.Context, port *station.Port) (string, error) {
	listener, err := channel.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		return "", err
	}
	server, err := channel.NewServer(b.hub, channel.ServerConfig{Ports: []*station.Port{port}})
	if err != nil {
		return "", err
	}
	b.start(ctx, func(ctx context.Context) error { return server.Run(ctx, listener) })
	return listener.Addr().String(), nil
}

// dial connects a master.
func (b *bed) dial(ctx context.Context, address string, port *station.Port) error {
	client, err := channel.NewClient(b.hub, channel.ClientConfig{
		Dial: channel.DialTCP(address, nil), Ports: []*station.Port{port},
	})
	if err != nil {
		return err
	}
	b.start(ctx, client.Run)
	return nil
}

// measure runs one combination.
func measure(ctx context.Context, o options) (result, error) {
	ctx, cancel := context.WithCancel(ctx)
	before := status("VmRSS:")
	b := newBed(ctx)
	defer b.running.Wait()
	defer cancel()
	there, err := b.outstations(ctx, o)
	if err != nil {
		return result{}, err
	}
	ready := make(chan struct{}, o.sessions)
	sinks := make([]*sink, o.sessions)
	for i := range sinks {
		if sinks[i], err = newSink(i, o.values, ready); err != nil {
			return result{}, err
		}
		if there.begin != nil {
			sinks[i].then = there.begin[i]
		}
		if err := b.dial(ctx, there.addresses[i], sinks[i].port); err != nil {
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
	for _, start := range there.begin {
		start()
	}
	return count(ctx, o, sinks, there.cpu, before)
}

// others are the outstations: where they listen, what starts the next message of each,
// nil where they do that themselves, and the processor time of their process.
type others struct {
	addresses []string
	begin     []func()
	cpu       cpuClock
}

// outstations starts the other ends, here or in a process of their own.
func (b *bed) outstations(ctx context.Context, o options) (others, error) {
	if o.role == roleSplit {
		return b.spawn(ctx, o)
	}
	there := others{cpu: func() time.Duration { return 0 }}
	for i, c := 0, database(); i < o.sessions; i++ {
		s, err := newSource(c, i, o.values, false)
		if err != nil {
			return others{}, err
		}
		address, err := b.listen(ctx, s.port)
		if err != nil {
			return others{}, err
		}
		there.addresses, there.begin = append(there.addresses, address), append(there.begin, s.update)
	}
	return there, nil
}

// cpuClock returns the processor time of another process.
type cpuClock func() time.Duration

// count lets the sessions run and counts.
func count(ctx context.Context, o options, sinks []*sink, peer cpuClock, before int) (result, error) {
	if err := pause(ctx, o.warmup); err != nil {
		return result{}, err
	}
	runtime.GC()
	stop, err := profile(o.profile)
	if err != nil {
		return result{}, err
	}
	defer stop()
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

// profile writes a processor profile until the returned function is called.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
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
	c := database()
	for i := range sources {
		var err error
		if sources[i], err = newSource(c, i, o.values, true); err != nil {
			return err
		}
		address, err := b.listen(ctx, sources[i].port)
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
func (b *bed) spawn(ctx context.Context, o options) (others, error) {
	self, err := os.Executable()
	if err != nil {
		return others{}, err
	}
	cmd := exec.CommandContext(ctx, self, "-role", roleOutstation,
		"-sessions", strconv.Itoa(o.sessions), "-values", strconv.Itoa(o.values))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return others{}, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return others{}, err
	}
	if err := cmd.Start(); err != nil {
		return others{}, err
	}
	b.running.Go(func() {
		<-ctx.Done()
		_ = in.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var addresses []string
	for len(addresses) < o.sessions && lines.Scan() {
		addresses = append(addresses, lines.Text())
	}
	if len(addresses) < o.sessions {
		return others{}, fmt.Errorf("the second process ended early: %w", errors.Join(lines.Err(), io.ErrUnexpectedEOF))
	}
	return others{addresses: addresses, cpu: func() time.Duration { return ask(in, lines) }}, nil
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
