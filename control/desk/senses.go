package desk

import (
	"sync"
	"sync/atomic"

	"voltbus/point"
)

// senses know the last values of points that matter for control: those that can be commanded, and those
// that interlocks look at. They are written by many goroutines, so the goroutine of Run is told only of
// what cannot wait until it looks.
type senses struct {
	cells atomic.Pointer[map[point.Path]*cell]
	news  func() // there is something that cannot wait; returns at once

	mu     sync.Mutex
	urgent map[point.Path]*cell
}

// cell is the last value of one point.
type cell struct {
	mu     sync.Mutex
	value  point.Value // the zero Value: it could not be read
	heard  bool
	urgent bool // an interlock looks at it
}

// watch makes the points those that matter. Values of points that stay are kept.
func (s *senses) watch(points []Point) {
	before := s.cells.Load()
	cells := make(map[point.Path]*cell)
	at := func(path point.Path) *cell {
		c := cells[path]
		if c == nil {
			c = &cell{}
			if before != nil && (*before)[path] != nil {
				old := (*before)[path]
				old.mu.Lock()
				c.value, c.heard = old.value, old.heard
				old.mu.Unlock()
			}
			cells[path] = c
		}
		return c
	}
	for i := range points {
		if points[i].Writable {
			at(points[i].Point)
		}
		if points[i].Policy == nil {
			continue
		}
		for _, lock := range points[i].Policy.Interlocks {
			at(lock.Other).urgent = true
		}
	}
	s.cells.Store(&cells)
}

// Hear takes what was read from devices, whoever asked for it. It may be called by many goroutines at
// once, and does not wait. The samples stay the caller's.
func (d *Desk) Hear(samples []point.Sample) {
	cells := d.senses.cells.Load()
	if cells == nil || len(*cells) == 0 {
		return
	}
	for i := range samples {
		c := (*cells)[samples[i].Point]
		if c == nil {
			continue
		}
		v := samples[i].Value
		if samples[i].Quality.IsBad() {
			v = point.Value{}
		}
		if c.set(v) && c.urgent {
			d.senses.tell(samples[i].Point, c)
		}
	}
}

// set takes a value, and reports whether it is another one.
func (c *cell) set(v point.Value) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := c.heard && c.value == v
	c.value, c.heard = v, true
	return !same
}

func (c *cell) get() (point.Value, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value, c.heard
}

func (s *senses) tell(path point.Path, c *cell) {
	s.mu.Lock()
	if s.urgent == nil {
		s.urgent = make(map[point.Path]*cell)
	}
	s.urgent[path] = c
	s.mu.Unlock()
	s.news()
}

// changed returns what cannot wait, and forgets it.
func (s *senses) changed() map[point.Path]point.Value {
	s.mu.Lock()
	urgent := s.urgent
	s.urgent = nil
	s.mu.Unlock()
	if len(urgent) == 0 {
		return nil
	}
	values := make(map[point.Path]point.Value, len(urgent))
	for path, c := range urgent {
		values[path], _ = c.get()
	}
	return values
}

// look returns the last value of a point; false if none was heard.
func (s *senses) look(path point.Path) (point.Value, bool) {
	cells := s.cells.Load()
	if cells == nil || (*cells)[path] == nil {
		return point.Value{}, false
	}
	return (*cells)[path].get()
}
