package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/device/line"
	"voltbus/fault"
)

// Fleet owns the sessions of all devices of a node. Its methods are safe for concurrent use.
type Fleet struct {
	limits Limits
	clock  *clock.Clock
	out    *line.Emitter
	log    *slog.Logger
	roster *roster

	mu      sync.Mutex
	configs []Config // of the last Apply
}

// New returns a fleet without devices that emits to out. It starts nothing.
func New(out Outlet, log *slog.Logger, limits Limits) *Fleet {
	limits = limits.WithDefaults()
	f := &Fleet{limits: limits, clock: clock.New(limits.Jump), out: line.NewEmitter(out), log: log}
	f.roster = newRoster(func(key line.Key) *line.Line {
		return line.New(key, line.Owner{Limits: f.limits, Clock: f.clock, Out: f.out, Log: f.log, Leave: f.roster.leave})
	})
	return f
}

// Apply replaces the set of devices, before Run or while it runs. Devices whose configuration is unchanged
// keep their session, schedule and statistics, and miss no slot; changed ones are closed and reopened; the
// others are closed. It does not wait for any driver. If anything is wrong it changes nothing and returns
// every problem as fault.Invalid, joined.
//
// A driver's configuration is unchanged if it is deeply equal. A changed device is opened only after its
// earlier session has been closed.
func (f *Fleet) Apply(devices []Config) error {
	checked, err := acquisition.Check(devices)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.configs = checked
	f.mu.Unlock()
	f.roster.set(checked)
	return nil
}

// Run serves the devices until ctx ends, closes every session, and returns nil. A driver that does not return
// within Limits.Stop is abandoned, and named in an Internal error. A fleet runs once: a second Run returns
// Conflict.
func (f *Fleet) Run(ctx context.Context) error {
	if !f.roster.enter() {
		return fault.E("device.Run", fault.Conflict, "", errors.New("a fleet runs only once"))
	}
	var all sync.WaitGroup
	watch := watch{clock: f.clock, roster: f.roster, out: f.out, log: f.log, recordBad: f.limits.RecordBad}
	all.Go(func() { watch.run(ctx) })
	for ctx.Err() == nil {
		for _, l := range f.roster.takeFresh() {
			all.Go(func() { l.Run(ctx) })
		}
		select {
		case <-ctx.Done():
		case <-f.roster.changed:
		}
	}
	return f.wind(&all)
}

// wind waits for all lines, within Limits.Stop.
func (f *Fleet) wind(all *sync.WaitGroup) error {
	f.roster.leaveAll()
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	timer := time.NewTimer(f.limits.Stop)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fault.E("device.Run", fault.Internal, "", fmt.Errorf(
			"gave up waiting for the driver on %s: this is a defect of the driver", strings.Join(f.roster.stuck(), ", ")))
	}
}

// Devices returns the state of every device, in the order of the last Apply. It is safe for
// concurrent use and waits for no driver.
func (f *Fleet) Devices() []State {
	units := f.roster.wantedUnits()
	now := f.clock.Now()
	states := make([]State, len(units))
	for i, u := range units {
		states[i] = u.State(now)
	}
	return states
}
