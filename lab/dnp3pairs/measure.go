package dnp3pairs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"time"
)

// Options say what is measured.
type Options struct {
	// Sessions is the number of pairs, or of outstations of a fleet.
	Sessions int
	// Values is how many values a report has.
	Values int
	// Workers is the number of goroutines that serve the connections of a process, 0 for
	// one of its own for each.
	Workers int
	// Duration is how long is measured, Warmup how long is run before that.
	Duration, Warmup time.Duration
	// Other makes the command of a second process, which runs [Serve] with the same
	// options for the outstations; nil has both ends in this process.
	Other func(ctx context.Context) *exec.Cmd
	// Fleet says that the outstations are reached at one address, see [MeasureFleet].
	Fleet bool
	// Began, if not nil, is called when the time that is measured begins, and what it
	// returns when it ends.
	Began func() (ended func())
}

// Result is what came of a measurement.
type Result struct {
	Messages int64
	Elapsed  time.Duration
	// CPU is the processor time of all processes.
	CPU time.Duration
	// PeakKB is the most memory this process held, GrownKB what it holds now more than
	// before it had sessions; both in kB, without the kernel's buffers.
	PeakKB, GrownKB int
}

// startLimit is how long sessions may take to start.
const startLimit = 60 * time.Second

var (
	errStart  = errors.New("the sessions did not start: are there enough file descriptors (ulimit -n)?")
	errSilent = errors.New("no report was confirmed in a minute; measure again while the machine is idle")
)

// Measure lets pairs exchange confirmed reports, each of them one at a time, and compares
// every value with the expected one; a wrong one is an error.
func Measure(ctx context.Context, o Options) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	before := status(resident)
	b := newBed(ctx, o.Workers)
	defer b.running.Wait()
	defer cancel()
	there, err := b.outstations(ctx, o)
	if err != nil {
		return Result{}, err
	}
	ready := make(chan struct{}, o.Sessions)
	sinks := make([]*sink, o.Sessions)
	for i := range sinks {
		if sinks[i], err = newSink(outstationAddress, i, o.Values, ready); err != nil {
			return Result{}, err
		}
		if there.begin != nil {
			sinks[i].then = there.begin[i]
		}
		if err := b.dial(ctx, there.addresses[i], sinks[i].port); err != nil {
			return Result{}, err
		}
	}
	if err := await(ctx, ready, o.Sessions, startLimit, errStart); err != nil {
		return Result{}, err
	}
	for _, start := range there.begin {
		start()
	}
	return count(ctx, o, sinks, there.cpu, before)
}

// await waits for n words.
func await(ctx context.Context, from <-chan struct{}, n int, limit time.Duration, late error) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for i := range n {
		select {
		case <-from:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("%d of %d: %w", i, n, late)
		}
	}
	return nil
}

// others are the outstations: where they listen, what starts the next message of each,
// nil where they do that themselves, and the processor time of their process.
type others struct {
	addresses []string
	begin     []func()
	cpu       func() time.Duration
}

// outstations starts the other ends, here or in a process of their own.
func (b *bed) outstations(ctx context.Context, o Options) (others, error) {
	if o.Other != nil {
		process, err := b.spawn(ctx, o.Other(ctx))
		if err != nil {
			return others{}, err
		}
		addresses, err := process.addresses(o.Sessions)
		return others{addresses: addresses, cpu: process.cpu}, err
	}
	there := others{cpu: func() time.Duration { return 0 }}
	for i, c := 0, database(); i < o.Sessions; i++ {
		s, err := newSource(c, outstationAddress, i, o.Values, false)
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

// count lets the sessions run and counts.
func count(ctx context.Context, o Options, sinks []*sink, peer func() time.Duration, before int) (Result, error) {
	if err := pause(ctx, o.Warmup); err != nil {
		return Result{}, err
	}
	runtime.GC()
	if o.Began != nil {
		defer o.Began()()
	}
	start, cpu, messages := time.Now(), used()+peer(), total(sinks)
	if err := pause(ctx, o.Duration); err != nil {
		return Result{}, err
	}
	if err := exceed(ctx, sinks, messages); err != nil {
		return Result{}, err
	}
	r := Result{
		Messages: total(sinks) - messages, Elapsed: time.Since(start), CPU: used() + peer() - cpu,
		PeakKB: status(residentPeak), GrownKB: status(resident) - before,
	}
	return r, check(sinks)
}

// exceed waits until more than n messages were confirmed: a machine that is busy with something else may
// take longer than was to be measured.
func exceed(ctx context.Context, sinks []*sink, n int64) error {
	for late := time.Now().Add(startLimit); total(sinks) <= n; {
		if time.Now().After(late) {
			return errSilent
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func total(sinks []*sink) (n int64) {
	for _, s := range sinks {
		n += s.messages.Load()
	}
	return n
}

func check(sinks []*sink) error {
	for _, s := range sinks {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}
