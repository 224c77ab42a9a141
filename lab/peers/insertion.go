package peers

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Insertion is concentrators that insert rows without pause, each with one request at a time.
type Insertion struct {
	Concentrators int
	Bulk          int  // rows of a request
	Single        bool // an INSERT for each row
	For, WarmUp   time.Duration
	Fill          func(rows []Row, concentrator, n int) // with readings from number n on of a concentrator
}

// Run inserts rows. It returns how many were inserted, and the rate after the warm-up in rows a second.
func (i *Insertion) Run(ctx context.Context, db *Inserts) (sent uint64, rate float64, err error) {
	var all, counted atomic.Uint64
	start := time.Now()
	measured, end := start.Add(i.WarmUp), start.Add(i.For)
	var group sync.WaitGroup
	failures := make([]error, i.Concentrators)
	for c := range failures {
		group.Go(func() {
			rows := make([]Row, i.Bulk)
			for n := 0; time.Now().Before(end) && ctx.Err() == nil; n += i.Bulk {
				i.Fill(rows, c, n)
				if failures[c] = db.Insert(ctx, rows, i.Single); failures[c] != nil {
					return
				}
				all.Add(uint64(i.Bulk))
				if now := time.Now(); now.After(measured) && now.Before(end) {
					counted.Add(uint64(i.Bulk))
				}
			}
		})
	}
	group.Wait()
	return all.Load(), float64(counted.Load()) / end.Sub(measured).Seconds(), errors.Join(failures...)
}
