// Package queue lists the exceptions of a metering store in PostgreSQL.
package queue

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/meter/store"
	"voltbus/meter/store/directory"
)

// channels are those of a meter, from the first to the last; of all meters for no id.
func channels(dir *directory.Directory, op, id string) (first, last int64, err error) {
	if id == "" {
		return 0, math.MaxInt32, nil
	}
	n, ok := dir.Number(id)
	if !ok {
		return 0, 0, store.Unregistered(op, id)
	}
	m := dir.Meter(n)
	refs := dir.Refs(nil, []store.ChannelKey{{Meter: id, Channel: m.Channels[0].Number}})
	return int64(refs[0].Number), int64(refs[0].Number) + int64(len(m.Channels)) - 1, nil
}

// List answers a query, the newest day first. It returns fault.NotFound for a meter that is not registered.
func List(ctx context.Context, tx pgx.Tx, dir *directory.Directory, op string, q store.ExceptionQuery) (out []store.Exception, err error) {
	first, last, err := channels(dir, op, q.Meter)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, "SELECT number, channel, day, status, count, noticed FROM meter_exception WHERE channel BETWEEN $1 AND $2 ORDER BY day DESC, number LIMIT $3",
		first, last, int64(q.Most()))
	if err != nil {
		return nil, err
	}
	var number, status, noticed int64
	var channel, day, count int32
	_, err = pgx.ForEachRow(rows, []any{&number, &channel, &day, &status, &count, &noticed}, func() error {
		key, _ := dir.Key(uint32(channel))
		out = append(out, store.Exception{
			Number: uint64(number), Key: key, Day: store.Day(day), Status: uint32(status), Count: int(count), Noticed: time.Unix(noticed, 0).UTC(),
		})
		return nil
	})
	return out, err
}
