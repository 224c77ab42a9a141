package regulate

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// abreast calls do for the numbers below n, several at the same time, and returns when all have ended. What they do must not depend on each other.
func abreast(n int, do func(k int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for k := range n {
			do(k)
		}
		return
	}
	var next atomic.Int64
	work := func() {
		for {
			k := int(next.Add(1)) - 1
			if k >= n {
				return
			}
			do(k)
		}
	}
	var wait sync.WaitGroup
	for range workers - 1 {
		wait.Go(work)
	}
	work()
	wait.Wait()
}
