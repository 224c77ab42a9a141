package dnp3pairs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
)

// FleetResult is what came of a fleet.
type FleetResult struct {
	// Connect is how long it took until every session was started.
	Connect time.Duration
	// Integrity is how long an integrity poll of all outstations took, Values how many
	// current values came.
	Integrity time.Duration
	Values    int64
	// Storm is how long it took until every event of a storm was confirmed and compared,
	// Events how many there were.
	Storm  time.Duration
	Events int64
	// CPU is the processor time of both processes, PeakKB the most memory the masters'
	// process held, in kB without the kernel's buffers.
	CPU    time.Duration
	PeakKB int
}

const fleetLimit = 10 * time.Minute

var (
	errPolls = errors.New("integrity polls did not end")
	errStorm = errors.New("reports did not arrive")
)

// MeasureFleet connects one master process with outstations in another, each with an
// address and a connection of its own: it reads all of them, then all of them report
// Values events at once, and every event must arrive.
func MeasureFleet(ctx context.Context, o Options) (FleetResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	b := newBed(ctx, o.Workers)
	defer b.running.Wait()
	defer cancel()
	process, err := b.spawn(ctx, o.Other(ctx))
	if err != nil {
		return FleetResult{}, err
	}
	where, err := process.addresses(1)
	if err != nil {
		return FleetResult{}, err
	}
	start := time.Now()
	f := &fleet{bed: b, process: process, done: make(chan struct{}, o.Sessions)}
	if err := f.connect(ctx, where[0], o); err != nil {
		return FleetResult{}, err
	}
	r := FleetResult{Connect: time.Since(start)}
	if r.Integrity, err = f.poll(ctx); err != nil {
		return r, err
	}
	if r.Storm, err = f.storm(ctx); err != nil {
		return r, err
	}
	for _, s := range f.sinks {
		r.Values += s.current.Load()
		r.Events += s.messages.Load() * int64(o.Values)
	}
	r.CPU, r.PeakKB = used()+process.cpu(), status(residentPeak)
	return r, check(f.sinks)
}

// fleet are the masters of many outstations.
type fleet struct {
	bed     *bed
	process *other
	sinks   []*sink
	done    chan struct{}
}

// connect starts the sessions.
func (f *fleet) connect(ctx context.Context, where string, o Options) error {
	for i := range o.Sessions {
		s, err := newSink(outstationAddress+link.Address(i), i, o.Values, f.done)
		if err != nil {
			return err
		}
		s.then = func() { f.done <- struct{}{} }
		f.sinks = append(f.sinks, s)
		if err := f.bed.dial(ctx, where, s.port); err != nil {
			return err
		}
	}
	return await(ctx, f.done, len(f.sinks), fleetLimit, errStart)
}

// poll reads everything from all outstations at once.
func (f *fleet) poll(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	for _, s := range f.sinks {
		s.master.Submit(master.ReadClasses(app.Integrity), func(_ master.Result, err error) {
			if err != nil {
				s.wrong.Add(1)
			}
			f.done <- struct{}{}
		})
	}
	err := await(ctx, f.done, len(f.sinks), fleetLimit, errPolls)
	for _, s := range f.sinks {
		if got, want := s.current.Load(), int64(3*Points); got != want && err == nil {
			err = fmt.Errorf("outstation %v gave %d current values instead of %d", s.port.Remote(), got, want)
		}
	}
	return time.Since(start), err
}

// storm lets all outstations report at once.
func (f *fleet) storm(ctx context.Context) (time.Duration, error) {
	start := time.Now()
	f.process.ask(eventsLine)
	err := await(ctx, f.done, len(f.sinks), fleetLimit, errStorm)
	return time.Since(start), err
}
