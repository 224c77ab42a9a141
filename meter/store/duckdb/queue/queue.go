// Package queue lists the exceptions of a store that nobody dealt with.
package queue

import (
	"context"
	"math"
	"time"

	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/store/duckdb/engine"
)

// List answers a query, the newest day first.
func List(ctx context.Context, c *engine.Conn, dir *directory.Directory, q store.ExceptionQuery) (out []store.Exception, err error) {
	where, args := "", []any{int64(q.Most())}
	if q.Meant != nil {
		args[0] = int64(math.MaxInt32)
	}
	if q.Meter != "" {
		n, ok := dir.Number(q.Meter)
		if !ok {
			return nil, store.Unregistered("metering.Exceptions", q.Meter)
		}
		m := dir.Meter(n)
		refs := dir.Refs(nil, []store.ChannelKey{{Meter: q.Meter, Channel: m.Channels[0].Number}})
		where = " WHERE channel >= $2 AND channel < $3"
		args = append(args, refs[0].Number, refs[0].Number+uint32(len(m.Channels)))
	}
	err = c.Query(ctx, "SELECT number, channel, day, status, count, noticed FROM exceptions"+where+" ORDER BY day DESC, number LIMIT $1", func(k *engine.Chunk) error {
		for i := range k.Rows {
			key, _ := dir.Key(engine.Numbers[uint32](k, 1)[i])
			if len(out) >= q.Most() || q.Meant != nil && !q.Meant(key.Meter) {
				continue
			}
			out = append(out, store.Exception{
				Number: engine.Numbers[uint64](k, 0)[i], Key: key, Day: store.Day(engine.Numbers[int32](k, 2)[i]), Status: engine.Numbers[uint32](k, 3)[i],
				Count: int(engine.Numbers[uint32](k, 4)[i]), Noticed: time.Unix(int64(engine.Numbers[uint32](k, 5)[i]), 0).UTC(),
			})
		}
		return nil
	}, args...)
	return out, err
}
