package dispatch

import (
	"sync"
	"sync/atomic"

	"voltbus/point"
)

// lastValues know the last values of points that matter for control: those that can be commanded, and those
// that interlocks look at. They are written by many goroutines, so the goroutine of Run is told only of
// changes, and only of points that somebody commands or that interlocks look at. A scan of a device without
// such points costs one look into a map.
type lastValues struct {
	watched atomic.Pointer[watched]
	news    func() // there is something to take; returns at once

	mu      sync.Mutex
	changes map[point.Path]*cell
}

// watched is the points that matter, which are replaced and never changed.
type watched struct {
	devices map[point.Path]*sensed
	cells   map[point.Path]*cell
}

// sensed is those of one device.
type sensed struct {
	count int // of all points of the device
	cells []cell
}

// cell is the last value of one point.
type cell struct {
	path  point.Path
	place int // among the points of its device, as a whole scan has them

	mu     sync.Mutex
	value  point.Value // the zero Value: it could not be read
	heard  bool
	urgent bool // an interlock looks at it
	follow bool // somebody commands it
}

// watch makes the points those that matter. Values of points that stay are kept.
func (s *lastValues) watch(points []Point) {
	before := s.watched.Load()
	next := &watched{devices: make(map[point.Path]*sensed), cells: make(map[point.Path]*cell)}
	urgent := make(map[point.Path]bool)
	for i := range points {
		if points[i].Policy == nil {
			continue
		}
		for _, lock := range points[i].Policy.Interlocks {
			urgent[lock.Other] = true
		}
	}
	for i := range points {
		p := &points[i]
		d := next.devices[p.Device]
		if d == nil {
			d = &sensed{}
			next.devices[p.Device] = d
		}
		d.count++
		if !p.Writable && !urgent[p.Point] {
			continue
		}
		d.cells = append(d.cells, cell{path: p.Point, place: d.count - 1, urgent: urgent[p.Point]})
	}
	for path, d := range next.devices {
		if len(d.cells) == 0 {
			delete(next.devices, path)
		}
		for i := range d.cells {
			c := &d.cells[i]
			c.inherit(before)
			next.cells[c.path] = c
		}
	}
	s.watched.Store(next)
}

// inherit takes over what was heard of the same point.
func (c *cell) inherit(before *watched) {
	if before == nil || before.cells[c.path] == nil {
		return
	}
	old := before.cells[c.path]
	old.mu.Lock()
	defer old.mu.Unlock()
	c.value, c.heard, c.follow = old.value, old.heard, old.follow
}

// Hear takes a scan of a device, whoever asked for it. It may be called by many goroutines at once, and
// does not wait. The scan stays the caller's.
func (d *Dispatcher) Hear(scan *point.Scan) {
	w := d.lastValues.watched.Load()
	if w == nil {
		return
	}
	device := w.devices[scan.Device]
	if device == nil {
		return
	}
	if len(scan.Samples) != device.count { // a report of some points
		for i := range scan.Samples {
			if c := w.cells[scan.Samples[i].Point]; c != nil {
				d.lastValues.hear(c, &scan.Samples[i])
			}
		}
		return
	}
	for i := range device.cells {
		c := &device.cells[i]
		s := &scan.Samples[c.place]
		if s.Point != c.path {
			if c = w.cells[s.Point]; c == nil {
				continue
			}
		}
		d.lastValues.hear(c, s)
	}
}

// hear takes one sample.
func (s *lastValues) hear(c *cell, sample *point.Sample) {
	v := sample.Value
	if sample.Quality.IsBad() {
		v = point.Value{}
	}
	if c.set(v) {
		s.tell(c)
	}
}

// set takes a value, and reports whether it is another one that matters now.
func (c *cell) set(v point.Value) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := c.heard && c.value == v
	c.value, c.heard = v, true
	return !same && (c.urgent || c.follow)
}

func (c *cell) get() (point.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, c.heard
}

func (s *lastValues) tell(c *cell) {
	s.mu.Lock()
	if s.changes == nil {
		s.changes = make(map[point.Path]*cell)
	}
	s.changes[c.path] = c
	s.mu.Unlock()
	s.news()
}

// take returns what has changed, and forgets it.
func (s *lastValues) take() map[point.Path]point.Value {
	s.mu.Lock()
	changes := s.changes
	s.changes = nil
	s.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	values := make(map[point.Path]point.Value, len(changes))
	for path, c := range changes {
		values[path], _ = c.get()
	}
	return values
}

// follow says whether somebody commands a point.
func (s *lastValues) follow(path point.Path, is bool) {
	w := s.watched.Load()
	if w == nil || w.cells[path] == nil {
		return
	}
	c := w.cells[path]
	c.mu.Lock()
	c.follow = is
	c.mu.Unlock()
}

// look returns the last value of a point; false if none was heard.
func (s *lastValues) look(path point.Path) (point.Value, bool) {
	w := s.watched.Load()
	if w == nil || w.cells[path] == nil {
		return point.Value{}, false
	}
	return w.cells[path].get()
}
