package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// record has an agent record one reading a call, first without a key and then with a new one each.
func (p *plan) record(ctx context.Context, h *hall) error {
	c, err := h.join(ctx, "meter", identity.Grants{Record: []point.Pattern{"site/**"}})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, keyed := range []bool{false, true} {
		for _, at := range []int{1, 100} {
			calls := p.calls
			if at == 1 {
				calls /= 10 // each waits for the disk alone
			}
			if err := recordMany(ctx, c, calls/10, at, keyed); err != nil { // warm
				return err
			}
			busy, began := processor(), time.Now()
			if err := recordMany(ctx, c, calls, at, keyed); err != nil {
				return err
			}
			passed, used := time.Since(began), processor()-busy
			fmt.Printf("record, key %5t, %3d at once: %6.0f calls/s, %5.1f µs of this process's processor time a call\n",
				keyed, at, float64(calls)/passed.Seconds(), float64(used.Microseconds())/float64(calls))
		}
	}
	return nil
}

// recordMany records so many readings, one a call, from so many callers at once, each at a point of its own.
func recordMany(ctx context.Context, c *client.Client, calls, at int, keyed bool) error {
	var left atomic.Int64
	left.Store(int64(calls))
	run := time.Now().UnixNano()
	errs := make([]error, at)
	var group sync.WaitGroup
	for i := range at {
		group.Go(func() {
			reading := map[string]any{"point": fmt.Sprintf("site/d%d/power", i), "value": 21.5}
			args := map[string]any{"samples": []any{reading}}
			for n := left.Add(-1); n >= 0 && errs[i] == nil; n = left.Add(-1) {
				reading["time"] = time.Now().UTC().Format(time.RFC3339Nano)
				if keyed {
					args["key"] = fmt.Sprintf("%d-%d", run, n)
				}
				errs[i] = c.CallNamed(ctx, wire.NodeName, "record", nil, args)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
