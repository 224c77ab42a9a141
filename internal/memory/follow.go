package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Bounds of what may lie about between two collections, beside what is alive.
const (
	leastSpare = 16 << 20 // bytes, however little collecting costs
	leastShare = 25       // and per cent of what is alive
	mostSpare  = 64 << 20
	mostShare  = 50
)

// What collecting may cost of the processors' time: above dear the heap grows more before it is collected,
// below cheap it grows less.
const (
	dear  = 0.02
	cheap = 0.005
)

// followEach is short, since a load that begins suddenly fills within seconds what its collections leave.
const followEach = time.Second

// percent is the growth of the heap between two collections that leaves about a spare and a share.
func percent(alive uint64, spare, share int) int {
	if alive == 0 {
		return collectAt
	}
	return int(min(collectAt, uint64(spare)*100/alive+uint64(share)))
}

// next is the growth that follows one, by what is alive and by what collecting cost.
func next(now int, alive uint64, cost float64) int {
	switch {
	case cost > dear:
		now *= 2
	case cost < cheap:
		now = now * 3 / 4
	}
	return max(percent(alive, leastSpare, leastShare), min(now, percent(alive, mostSpare, mostShare)))
}

// A process is at rest when it allocates no more than this between so many looks, one after another: what it then
// has beside what is alive, from its start or from busier times, goes back to the system.
const (
	restful = 6 << 20 // bytes
	rests   = 5
)

// loiters reports whether there is memory that is not alive and should go back once the process is at rest.
func loiters(s *sight) bool {
	return s.held > s.alive+leastSpare+s.alive*leastShare/100
}

// pause counts the looks since the process rests.
type pause int

// over reports whether it has rested long enough for memory to go back, and there is some.
func (p *pause) over(s *sight) bool {
	if *p++; s.allocated > restful {
		*p = 0
	}
	return *p >= rests && loiters(s)
}

// Follow lets the heap grow as little between two collections as these are cheap, until ctx ends: a
// process that has little to do needs little more than what is alive, and one that has much to do gets
// room, but not four times what it keeps of a million points. What a process at rest does not need goes back
// to the system. The environment variable GOGC takes precedence. It returns nil.
func Follow(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(followEach)
	defer tick.Stop()
	heap := newGauge()
	heap.look() // what the start took does not count
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

// gauge reads what the runtime says of its collections.
type gauge struct {
	read            []metrics.Sample
	collecting, all float64 // seconds of processors, at the last look
	allocated       uint64  // bytes since the start, at the last look
}

// sight is what a look shows.
type sight struct {
	alive     uint64  // bytes that were in use after the last collection
	held      uint64  // bytes of the heap that the system has given
	allocated uint64  // bytes since the last look
	cost      float64 // share of the processors' time that collections took since the last look; 0 if there were none
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
