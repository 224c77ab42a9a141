// Package owner has this replica run what it has the leases of, and nothing else: of each device that several replicas list, one of them
// is the owner. On a node alone everything runs.
package owner

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"voltbus/bus/lease"
	"voltbus/device"
	"voltbus/point"
)

// Configured is what a configuration says of devices.
type Configured struct {
	Devices   []device.Config
	Commanded map[point.Path]bool // those with points that can be commanded
}

// Fleet owns the sessions of devices, as package device does.
type Fleet interface {
	Apply(devices []device.Config) error
	Closed(device point.Path) bool
}

// Lines gives a fleet the devices of this node, those that other replicas have as such. It is safe for concurrent use.
type Lines struct {
	fleet  Fleet
	leases *Leases

	mu  sync.Mutex
	all []device.Config // as configured
}

// NewLines returns the lines of a node; leases are nil for a node alone. It starts nothing.
func NewLines(fleet Fleet, leases *Leases) *Lines { return &Lines{fleet: fleet, leases: leases} }

// Apply replaces the configured devices. Errors are those of the fleet.
func (l *Lines) Apply(c Configured) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.all
	l.all = c.Devices
	if err := l.assign(); err != nil {
		l.all = before
		return err
	}
	if l.leases != nil {
		l.leases.want(deviceItem, c.items(), func(name string) bool { return !l.fleet.Closed(point.Path(name)) })
	}
	return nil
}

// items lists the devices to have the leases of. Those of one line belong together, and lines that are commanded belong to control.
func (c *Configured) items() []lease.Item {
	line := func(d *device.Config) string { return d.Kind.Name + " " + d.LineName() }
	control := map[string]bool{}
	for i := range c.Devices {
		if d := &c.Devices[i]; !d.Disabled && c.Commanded[d.Path] {
			control[line(d)] = true
		}
	}
	var list []lease.Item
	for i := range c.Devices {
		d := &c.Devices[i]
		if d.Disabled {
			continue
		}
		group := line(d)
		if control[group] {
			group = Control
		}
		list = append(list, lease.Item{Name: string(d.Path), Group: group})
	}
	return list
}

// assign gives the fleet all devices, with what is known of their owners. The caller holds the mutex.
func (l *Lines) assign() error {
	devices := l.all
	if l.leases != nil {
		devices = slices.Clone(devices)
		for i := range devices {
			d := &devices[i]
			if hold := l.leases.Hold(deviceItem + string(d.Path)); hold != nil {
				d.Hold = hold //nolint:fatcontext // each device has its own
				continue
			}
			d.Elsewhere, d.Owner = true, l.leases.Owner(deviceItem+string(d.Path))
		}
	}
	return l.fleet.Apply(devices)
}

// follow follows the leases until ctx ends. It returns nil.
func (l *Lines) follow(ctx context.Context) error {
	for {
		changed := l.leases.Changed()
		l.mu.Lock()
		err := l.assign()
		l.mu.Unlock()
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// Run runs a fleet until ctx ends, then gives back the leases of this replica, and returns nil.
func (l *Lines) Run(ctx context.Context, fleet func(context.Context) error) error {
	if l.leases == nil {
		return fleet(ctx)
	}
	leases, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var all errgroup.Group
	all.Go(func() error { return l.leases.Run(leases) })
	all.Go(func() error {
		defer end() // nothing is in use any more
		var both errgroup.Group
		both.Go(func() error { return l.follow(ctx) })
		both.Go(func() error { return fleet(ctx) })
		return both.Wait()
	})
	return all.Wait()
}
