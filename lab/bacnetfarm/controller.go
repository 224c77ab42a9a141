// Package bacnetfarm is many BACnet devices behind controllers that take only so many requests a second, and the measurement of how a
// node's device owner reads them: all at once, staggered, or by change of value.
//
//   - controller.go is the limit that devices behind one controller share, and link.go the way to a device through it.
//   - farm.go is the devices, measure.go reads them.
package bacnetfarm

import (
	"sync"
	"time"
)

// controller takes requests for the devices behind it: up to a rate, and a queue of those that came faster. The rest it drops.
type controller struct {
	mu       sync.Mutex
	rate     float64 // requests a second; 0: no limit
	queue    float64
	room     float64 // for requests, up to queue
	last     time.Time
	second   time.Time // that is counted
	inSecond int
	counts   Load
}

// Load is what a controller had to do.
type Load struct {
	Received int // datagrams
	Dropped  int // of them
	Sent     int // datagrams
	Peak     int // received in the busiest second
}

// limit sets the limit and begins to count anew.
func (c *controller) limit(rate, queue float64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rate, c.queue, c.room, c.last = rate, queue, queue, now
	c.counts, c.second, c.inSecond = Load{}, now, 0
}

// take reports whether a datagram that arrives finds room.
func (c *controller) take(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Received++
	if now.Sub(c.second) >= time.Second {
		c.second, c.inSecond = now, 0
	}
	c.inSecond++
	c.counts.Peak = max(c.counts.Peak, c.inSecond)
	if c.rate <= 0 {
		return true
	}
	c.room = min(c.queue, c.room+now.Sub(c.last).Seconds()*c.rate)
	c.last = now
	if c.room < 1 {
		c.counts.Dropped++
		return false
	}
	c.room--
	return true
}

func (c *controller) sent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts.Sent++
}

func (c *controller) load() Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}
