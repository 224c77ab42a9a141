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
	leastSpare = 16 << 20 // octets, however little collecting costs
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

const followEach = 5 * time.Second

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

// Follow lets the heap grow as little between two collections as these are cheap, until ctx ends: a
// process that has little to do needs little more than what is alive, and one that has much to do gets
// room, but not four times what it keeps of a million points. The environment variable GOGC takes
// precedence. It returns nil.
func Follow(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(followEach)
	defer tick.Stop()
	heap := newGauge()
	growth := collectAt
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		alive, cost := heap.look()
		if n := next(growth, alive, cost); n != growth {
			debug.SetGCPercent(n)
			growth = n
		}
	}
}

// gauge reads what the runtime says of its collections.
type gauge struct {
	read            []metrics.Sample
	collecting, all float64 // seconds of processors, at the last look
}

func newGauge() *gauge {
	return &gauge{read: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"},
	}}
}

// look returns the octets that were in use after the last collection, and the share of the processors'
// time that collections took since the last look; 0 if there were none.
func (g *gauge) look() (alive uint64, cost float64) {
	metrics.Read(g.read)
	collecting, all := g.read[1].Value.Float64(), g.read[2].Value.Float64()
	if all > g.all {
		cost = (collecting - g.collecting) / (all - g.all)
	}
	g.collecting, g.all = collecting, all
	return g.read[0].Value.Uint64(), cost
}
