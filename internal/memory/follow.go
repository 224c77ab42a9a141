package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Bounds of garbage between two collections, in addition to live memory.
const (
	leastSpare = 16 << 20 // bytes, however cheap collections are
	leastShare = 25       // and per cent of live memory
	mostSpare  = 64 << 20
	mostShare  = 50
)

// The share of processor time for collections: above dear the heap may grow more before it is collected,
// below cheap less.
const (
	dear  = 0.02
	cheap = 0.005
)

// followEach is short, since a sudden load fills the heap within seconds.
const followEach = time.Second

// percent is the growth of the heap between two collections that corresponds to a spare and a share.
func percent(alive uint64, spare, share int) int {
	if alive == 0 {
		return collectAt
	}
	return int(min(collectAt, uint64(spare)*100/alive+uint64(share)))
}

// next is the growth that follows one, according to live memory and the cost of collections.
func next(now int, alive uint64, cost float64) int {
	switch {
	case cost > dear:
		now *= 2
	case cost < cheap:
		now = now * 3 / 4
	}
	return max(percent(alive, leastSpare, leastShare), min(now, percent(alive, mostSpare, mostShare)))
}

// A process is at rest when it allocates no more than this between so many consecutive readings: then its unused
// memory, from its start or from busier times, is returned to the system.
const (
	restful = 6 << 20 // bytes
	rests   = 5
)

// loiters reports whether there is unused memory to return once the process is at rest.
func loiters(s *sight) bool {
	return s.held > s.alive+leastSpare+s.alive*leastShare/100
}

// pause counts the readings since the process came to rest.
type pause int

// over reports whether it has rested long enough to return memory, and there is some.
func (p *pause) over(s *sight) bool {
	if *p++; s.allocated > restful {
		*p = 0
	}
	return *p >= rests && loiters(s)
}

// Follow adapts the growth of the heap between collections to their cost, until ctx ends: an idle process
// needs little more than its live memory, and a busy one gets room, but not four times the memory of a
// million points. Memory that a process at rest does not need is returned to the system. The environment
// variable GOGC takes precedence. It returns nil.
func Follow(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(followEach)
	defer tick.Stop()
	heap := newGauge()
	heap.look() // the start does not count
	growth := collectAt
	var rest pause
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		seen := heap.look()
		if n := next(growth, seen.alive, seen.cost); n != growth {
			debug.SetGCPercent(n)
			growth = n
		}
		if rest.over(&seen) {
			debug.FreeOSMemory()
		}
	}
}

// gauge reads the runtime's figures about collections.
type gauge struct {
	read            []metrics.Sample
	collecting, all float64 // processor seconds, at the last reading
	allocated       uint64  // bytes since the start, at the last reading
}

// sight is the result of a reading.
type sight struct {
	alive     uint64  // bytes in use after the last collection
	held      uint64  // bytes of heap obtained from the system
	allocated uint64  // bytes since the last reading
	cost      float64 // share of processor time taken by collections since the last reading; 0 if there were none
}

func newGauge() *gauge {
	return &gauge{read: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}}
}

func (g *gauge) look() (s sight) {
	metrics.Read(g.read)
	s.alive = g.read[0].Value.Uint64()
	collecting, all := g.read[1].Value.Float64(), g.read[2].Value.Float64()
	if all > g.all {
		s.cost = (collecting - g.collecting) / (all - g.all)
	}
	allocated := g.read[3].Value.Uint64()
	s.allocated = allocated - g.allocated
	for _, held := range g.read[4:] {
		s.held += held.Value.Uint64()
	}
	g.collecting, g.all, g.allocated = collecting, all, allocated
	return s
}
