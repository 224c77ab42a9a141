package memory

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// What may lie about: as much as collectAt says as long as little is alive, and of much that is
// alive about a half.
const (
	spareAlways = 64 << 20 // octets
	spareShare  = 50       // per cent of what is alive
	followEach  = 10 * time.Second
)

// percent is the growth of the heap between two collections for what is alive.
func percent(alive uint64) int {
	if alive == 0 {
		return collectAt
	}
	return int(min(collectAt, spareAlways*100/alive+spareShare))
}

// Follow lets the heap of a process that keeps much grow less before it is collected, until ctx
// ends: a centre that knows a million points would else take four times their memory. The environment
// variable GOGC takes precedence. It returns nil.
func Follow(ctx context.Context) error {
	if os.Getenv("GOGC") != "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(followEach)
	defer tick.Stop()
	alive := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	last := collectAt
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		metrics.Read(alive)
		if p := percent(alive[0].Value.Uint64()); p != last {
			debug.SetGCPercent(p)
			last = p
		}
	}
}
