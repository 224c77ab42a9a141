package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Fleet owns the sessions of all devices of a node. Its methods are safe for concurrent use.
type Fleet struct {
	limits  Limits
	clock   *clock
	out     *outlets
	log     *slog.Logger
	changed chan struct{} // there are lines to start, or one ended

	mu     sync.Mutex
	phase  phase
	units  []*unit // in the order of the configuration; replaced, never changed
	byPath map[point.Path]*unit
	lines  map[lineKey]*line
	fresh  []*line // made, but not started
	seats  seating
}

type phase uint8

const (
	created phase = iota
	started
	ended
)

// New returns a fleet without devices that emits to out. It starts nothing.
func New(out Outlet, log *slog.Logger, limits Limits) *Fleet {
	limits = limits.withDefaults()
	return &Fleet{
		limits: limits, clock: newClock(limits.Jump), out: newOutlets(out), log: log,
		changed: make(chan struct{}, 1),
		byPath:  make(map[point.Path]*unit), lines: make(map[lineKey]*line),
	}
}

// Run serves the devices until ctx ends, closes every session, and returns nil. A driver that
// does not return within Limits.Stop is left behind, and named in an Internal error. A fleet
// runs once: a second Run returns Conflict.
func (f *Fleet) Run(ctx context.Context) error {
	if !f.enter() {
		return fault.E("device.Run", fault.Conflict, "", errors.New("a fleet runs only once"))
	}
	var all sync.WaitGroup
	all.Go(func() { f.watch(ctx) })
	for ctx.Err() == nil {
		for _, l := range f.takeFresh() {
			all.Go(func() { l.run(ctx) })
		}
		select {
		case <-ctx.Done():
		case <-f.changed:
		}
	}
	return f.wind(&all)
}

// wind waits for all lines, but not for ever.
func (f *Fleet) wind(all *sync.WaitGroup) error {
	f.leaveAll()
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
			"gave up waiting for the driver on %s: this is a defect of the driver", strings.Join(f.stuck(), ", ")))
	}
}

func (f *Fleet) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.phase != created {
		return false
	}
	f.phase = started
	return true
}

// leaveAll refuses new requests, and answers those that wait, also on lines that stand still.
func (f *Fleet) leaveAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.phase = ended
	for _, l := range f.lines {
		l.box.close()
	}
}

func (f *Fleet) over() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.phase == ended
}

// stuck returns the names of the lines whose goroutine is in a driver.
func (f *Fleet) stuck() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for _, l := range f.lines {
		if l.busy.Load() != 0 {
			names = append(names, l.key.name)
		}
	}
	return names
}

func (f *Fleet) takeFresh() []*line {
	f.mu.Lock()
	defer f.mu.Unlock()
	fresh := f.fresh
	f.fresh = nil
	return fresh
}

// leave lets a line without devices end, unless it has just got new ones.
func (f *Fleet) leave(l *line) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !l.box.closeUnlessWanted() {
		return false
	}
	delete(f.lines, l.key)
	return true
}

func (f *Fleet) wantedUnits() []*unit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.units
}

// unitAt returns the device with the path, or nil.
func (f *Fleet) unitAt(device point.Path) *unit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byPath[device]
}

// pointAt returns the device that has the point, and which of its points it is. Names of points
// may contain slashes, so every parent may be the device; the longest wins.
func (f *Fleet) pointAt(path point.Path) (*unit, int) {
	for device := path.Parent(); device != ""; device = device.Parent() {
		u := f.unitAt(device)
		if u == nil {
			continue
		}
		if i := u.find(string(path[len(device)+1:])); i >= 0 {
			return u, i
		}
	}
	return nil, -1
}
