// Package lastvalue caches the last values of the points that matter for control.
package lastvalue

import (
	"sync"
	"sync/atomic"

	"voltbus/control"
	"voltbus/point"
)

// Cache holds the last values of points that matter for control: those that can be commanded, and those that
// interlocks use. Many goroutines write them, so the goroutine of Run is notified only of changes, and only
// of points that are commanded or used by interlocks. A scan of a device without such points costs one map
// lookup.
type Cache struct {
	watched atomic.Pointer[watched]
	news    func() // called when there is something to take; returns at once

	mu      sync.Mutex
	changes map[point.Path]*cell
}

// New returns an empty cache. It calls news when there is something to take; news must return at once.
func New(news func()) *Cache { return &Cache{news: news} }

// watched holds the points that matter. It is replaced and never modified.
type watched struct {
	devices map[point.Path]*sensed
	cells   map[point.Path]*cell
}

// sensed holds those of one device.
type sensed struct {
	count int // of all points of the device
	cells []cell
}

// cell is the last value of one point.
type cell struct {
	path  point.Path
	place int // index among the points of its device in a complete scan

	mu     sync.Mutex
	value  point.Value // the zero Value: it could not be read
	heard  bool
	urgent bool // an interlock uses it
	follow bool // it is commanded
}

// Watch sets the points that matter. Values of points that stay are kept.
func (c *Cache) Watch(points []control.Spec) {
	before := c.watched.Load()
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
			one := &d.cells[i]
			one.inherit(before)
			next.cells[one.path] = one
		}
	}
	c.watched.Store(next)
}

// inherit copies the last value of the same point.
func (c *cell) inherit(before *watched) {
	if before == nil || before.cells[c.path] == nil {
		return
	}
	old := before.cells[c.path]
	old.mu.Lock()
	defer old.mu.Unlock()
	c.value, c.heard, c.follow = old.value, old.heard, old.follow
}

// Hear receives a scan of a device, whatever caused it. It may be called concurrently, and does not wait. The
// caller keeps ownership of the scan.
func (c *Cache) Hear(scan *point.Scan) {
	w := c.watched.Load()
	if w == nil {
		return
	}
	device := w.devices[scan.Device]
	if device == nil {
		return
	}
	if len(scan.Samples) != device.count { // a report of only some points
		for i := range scan.Samples {
			if one := w.cells[scan.Samples[i].Point]; one != nil {
				c.hear(one, &scan.Samples[i])
			}
		}
		return
	}
	for i := range device.cells {
		one := &device.cells[i]
		s := &scan.Samples[one.place]
		if s.Point != one.path {
			if one = w.cells[s.Point]; one == nil {
				continue
			}
		}
		c.hear(one, s)
	}
}

// hear receives one sample.
func (c *Cache) hear(one *cell, sample *point.Sample) {
	v := sample.Value
	if sample.Quality.IsBad() {
		v = point.Value{}
	}
	if one.set(v) {
		c.report(one)
	}
}

// set stores a value, and reports whether it is a change that matters now.
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

// report queues a cell for Take.
func (c *Cache) report(one *cell) {
	c.mu.Lock()
	if c.changes == nil {
		c.changes = make(map[point.Path]*cell)
	}
	c.changes[one.path] = one
	c.mu.Unlock()
	c.news()
}

// Take returns the changes, and clears them.
func (c *Cache) Take() map[point.Path]point.Value {
	c.mu.Lock()
	changes := c.changes
	c.changes = nil
	c.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	values := make(map[point.Path]point.Value, len(changes))
	for path, one := range changes {
		values[path], _ = one.get()
	}
	return values
}

// Follow sets whether a point is currently commanded.
func (c *Cache) Follow(path point.Path, is bool) {
	w := c.watched.Load()
	if w == nil || w.cells[path] == nil {
		return
	}
	one := w.cells[path]
	one.mu.Lock()
	one.follow = is
	one.mu.Unlock()
}

// Get returns the last value of a point; false if it has none.
func (c *Cache) Get(path point.Path) (point.Value, bool) {
	w := c.watched.Load()
	if w == nil || w.cells[path] == nil {
		return point.Value{}, false
	}
	return w.cells[path].get()
}
