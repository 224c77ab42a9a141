package ami

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/metersim"
	"voltbus/lab/peers"
)

// conventional are the same concentrators whose rows are inserted into PostgreSQL.
func conventional() []experiment.Peer {
	var out []experiment.Peer
	for _, single := range []bool{true, false} {
		name := "PostgreSQL, an INSERT a bulk"
		if single {
			name = "PostgreSQL, an INSERT a reading"
		}
		out = append(out, experiment.Peer{Name: name, Find: peers.FindPostgreSQL, Run: func(ctx context.Context, b *experiment.Bench) error {
			bulks, err := numbers(b, "bulks")
			if err != nil {
				return err
			}
			for _, n := range bulks {
				err := b.Measure(ctx, bulk(n), func(ctx context.Context, t *experiment.Trial) error { return insert(ctx, b, t, n, single) })
				if err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return out
}

// insert measures how many rows concentrators get into PostgreSQL that send without pause.
func insert(ctx context.Context, b *experiment.Bench, t *experiment.Trial, size int, single bool) (err error) {
	db, err := peers.OpenInserts(ctx, t.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var all, counted atomic.Uint64
	start := time.Now()
	measured, end := start.Add(min(b.Duration("warm-up"), b.Duration("window")/2)), start.Add(b.Duration("window"))
	var group sync.WaitGroup
	failures := make([]error, max(1, b.Int("concentrators")))
	for i := range failures {
		group.Go(func() {
			rows := make([]peers.Row, size)
			for n := 0; time.Now().Before(end) && ctx.Err() == nil; n += size {
				fillRows(rows, i, n, max(1, b.Int("meters")), metersim.FirstDay(start))
				if failures[i] = db.Insert(ctx, rows, single); failures[i] != nil {
					return
				}
				all.Add(uint64(size))
				if now := time.Now(); now.After(measured) && now.Before(end) {
					counted.Add(uint64(size))
				}
			}
		})
	}
	group.Wait()
	if err := errors.Join(failures...); err != nil {
		return err
	}
	t.Value(float64(counted.Load()) / end.Sub(measured).Seconds())
	found, err := db.Count(ctx)
	sent := all.Load()
	t.Account(account.Balance{Sent: sent, Acknowledged: sent, Found: min(found, sent), Lost: sent - min(found, sent), Foreign: found - min(found, sent)})
	return err
}

// fillRows fills rows with readings from number n on of a concentrator.
func fillRows(rows []peers.Row, concentrator, n, meters int, from time.Time) {
	for i := range rows {
		k := n + i
		rows[i] = peers.Row{
			Meter: metersim.MeterID(concentrator*meters + k%meters), End: from.Add(time.Duration(k/meters+1) * metersim.Minute),
			Value: float64(100+k*7%900) / 1000,
		}
	}
}
