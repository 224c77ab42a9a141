package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"voltbus/lab/metersim"
	"voltbus/lab/peers"
)

var errPeer = errors.New("-peer: write postgres, or nothing")

// conventional measures the conventional way: the same senders insert the same readings as rows into PostgreSQL, an INSERT a request.
func (w *web) conventional() (err error) {
	switch w.peer {
	case "":
		return nil
	case "postgres":
	default:
		return errPeer
	}
	dir, err := os.MkdirTemp("", "metering-peer")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx := context.Background()
	db, err := peers.OpenInserts(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	from := metersim.FirstDay(time.Now())
	work := peers.Insertion{
		Concentrators: w.senders, Bulk: w.bulk, For: w.time, WarmUp: min(500*time.Millisecond, w.time/2),
		Fill: func(rows []peers.Row, concentrator, n int) {
			for i := range rows {
				rows[i].Meter, rows[i].End, rows[i].Value = metersim.Nth(from, concentrator, n+i, w.meters)
			}
		},
	}
	sent, rate, err := work.Run(ctx, db)
	if err != nil {
		return err
	}
	found, err := db.Count(ctx)
	if err == nil && found != sent {
		err = fmt.Errorf("PostgreSQL has %d of %d rows", found, sent)
	}
	fmt.Printf("PostgreSQL, an INSERT of %d rows a request, kept connections: %.0f readings/s\n", w.bulk, rate)
	return err
}
