package ami

import (
	"context"
	"errors"
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
	meters, from := max(1, b.Int("meters")), metersim.FirstDay(time.Now())
	work := peers.Insertion{
		Concentrators: max(1, b.Int("concentrators")), Bulk: size, Single: single, For: b.Duration("window"), WarmUp: min(b.Duration("warm-up"), b.Duration("window")/2),
		Fill: func(rows []peers.Row, concentrator, n int) {
			for i := range rows {
				rows[i].Meter, rows[i].End, rows[i].Value = metersim.Nth(from, concentrator, n+i, meters)
			}
		},
	}
	sent, rate, err := work.Run(ctx, db)
	if err != nil {
		return err
	}
	t.Value(rate)
	found, err := db.Count(ctx)
	t.Account(account.Balance{Sent: sent, Acknowledged: sent, Found: min(found, sent), Lost: sent - min(found, sent), Foreign: found - min(found, sent)})
	return err
}
