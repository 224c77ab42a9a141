package network

import (
	"context"
	"slices"
	"sync"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/npdu"
	"voltbus/protocol/bacnet/service"
)

// Bounds of a search.
const (
	together   = 64                     // instances that one Who-Is asks for at most
	pause      = 50 * time.Millisecond  // between two Who-Is
	settle     = 250 * time.Millisecond // after an answer, for that of a second device with the instance
	maxPending = 5 * time.Second        // before a Who-Is is sent, such as while a BBMD does not answer
	maxAway    = 8                      // addresses that are remembered for an instance
)

// asker broadcasts Who-Is.
type asker interface {
	// Await waits until broadcasts can leave; the error says why they cannot.
	Await(ctx context.Context) error
	WhoIs(network uint16, devices service.Range) error
}

// Directory knows at which addresses devices were seen, and asks for those that are looked for: those with
// instances near each other together, and never so many at once that their answers flood the network. It is
// safe for concurrent use.
type Directory struct {
	wake chan struct{} // somebody is looked for

	mu      sync.Mutex
	seen    map[uint32]*sightings
	pending []uint32 // instances that are looked for and were not asked for yet, in order
}

// sightings are where one instance was seen.
type sightings struct {
	devices []client.Device // the latest last
	waiting []chan struct{} // of those who look for it: told of an answer
	asked   chan struct{}   // closed when a Who-Is was sent; nil if nobody looks for it
	failed  error           // why it could not be sent
}

func newDirectory() *Directory {
	return &Directory{wake: make(chan struct{}, 1), seen: make(map[uint32]*sightings)}
}

// announced takes an I-Am. Only instances that somebody looked for are remembered: announcements cost their sender
// nothing.
func (d *Directory) announced(device client.Device) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seen[device.Instance]
	if s == nil {
		return
	}
	s.devices = slices.DeleteFunc(s.devices, func(known client.Device) bool { return known.Address == device.Address })
	if len(s.devices) >= maxAway {
		s.devices = s.devices[1:]
	}
	s.devices = append(s.devices, device)
	for _, told := range s.waiting {
		select {
		case told <- struct{}{}:
		default:
		}
	}
}

// Find asks for the devices with an instance and returns those that answer: none when nobody does within the wait,
// several when the instance is not unique. The error is that of ctx, or says why nobody can be asked.
func (d *Directory) Find(ctx context.Context, instance uint32, at Station, wait time.Duration) ([]client.Device, error) {
	told := make(chan struct{}, 1)
	asked := d.look(instance, told)
	defer d.forget(instance, told)
	timer := time.NewTimer(maxPending)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	timer.Reset(wait)
	settling := false
	for {
		select {
		case <-told:
			if found, _ := d.Seen(instance, at); len(found) > 0 && !settling {
				settling = true
				timer.Reset(settle)
			}
		case <-timer.C:
			return d.Seen(instance, at)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// look has an instance asked for; what was known of it is forgotten, unless somebody else is looking for it.
func (d *Directory) look(instance uint32, told chan struct{}) (asked chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seen[instance]
	if s == nil || len(s.waiting) == 0 {
		s = &sightings{}
		d.seen[instance] = s
	}
	s.waiting = append(s.waiting, told)
	if s.asked == nil {
		s.asked = make(chan struct{})
		if i, found := slices.BinarySearch(d.pending, instance); !found {
			d.pending = slices.Insert(d.pending, i, instance)
		}
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
	return s.asked
}

// forget ends a look. What was seen stays, to tell a second device from the one that was found.
func (d *Directory) forget(instance uint32, told chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.seen[instance]; s != nil {
		s.waiting = slices.DeleteFunc(s.waiting, func(c chan struct{}) bool { return c == told })
		if len(s.waiting) == 0 {
			s.asked = nil
			if i, found := slices.BinarySearch(d.pending, instance); found {
				d.pending = slices.Delete(d.pending, i, i+1)
			}
		}
	}
}

// Seen returns where an instance was seen since it was last looked for, and why it could not be asked for.
func (d *Directory) Seen(instance uint32, at Station) (devices []client.Device, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.seen[instance]
	if s == nil {
		return nil, nil
	}
	for _, device := range s.devices {
		if at.Fits(device.Address) {
			devices = append(devices, device)
		}
	}
	return devices, s.failed
}

// Others returns the addresses other than its own at which a device's instance was seen.
func (d *Directory) Others(instance uint32, own ip.Address) (others []ip.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.seen[instance]; s != nil {
		for _, device := range s.devices {
			if device.Address != own {
				others = append(others, device.Address)
			}
		}
	}
	return others
}

// run asks for what is looked for until ctx ends.
func (d *Directory) run(ctx context.Context, c asker) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		}
		for d.askNext(ctx, c) {
			timer.Reset(pause)
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
		}
	}
}

// askNext broadcasts one Who-Is, and reports whether there was something to ask for.
func (d *Directory) askNext(ctx context.Context, c asker) bool {
	err := c.Await(ctx)
	devices, batch := d.take()
	if len(batch) == 0 {
		return false
	}
	if err == nil {
		err = c.WhoIs(npdu.Global, devices)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range batch {
		q.of.failed = err
		close(q.asked)
	}
	return true
}

// question is that an instance is to be asked for.
type question struct {
	of    *sightings
	asked chan struct{}
}

// take takes the next instances that are looked for. Those who begin to look while these are asked for wait for the
// next Who-Is, as this one may not name theirs.
func (d *Directory) take() (devices service.Range, batch []question) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		return devices, nil
	}
	first, n := d.pending[0], 0
	for n < len(d.pending) && d.pending[n] < first+together {
		s := d.seen[d.pending[n]]
		batch = append(batch, question{of: s, asked: s.asked})
		n++
	}
	devices = service.Devices(first, d.pending[n-1])
	d.pending = slices.Delete(d.pending, 0, n)
	return devices, batch
}
