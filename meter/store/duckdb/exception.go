package duckdb

import (
	"context"
	"time"

	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

// Exceptions implements store.Judged.
func (s *Store) Exceptions(ctx context.Context, q store.ExceptionQuery) ([]store.Exception, error) {
	const op = "metering.Exceptions"
	c, give, err := s.reader(ctx, op)
	if err != nil {
		return nil, err
	}
	defer give()
	where, args := "", []any{int64(q.Most())}
	if q.Meter != "" {
		n, ok := s.dir.Number(q.Meter)
		if !ok {
			return nil, store.Unregistered(op, q.Meter)
		}
		m := s.dir.Meter(n)
		refs := s.dir.Refs(nil, []store.ChannelKey{{Meter: q.Meter, Channel: m.Channels[0].Number}})
		where = " WHERE channel >= $2 AND channel < $3"
		args = append(args, refs[0].Number, refs[0].Number+uint32(len(m.Channels)))
	}
	var out []store.Exception
	err = c.Query(ctx, "SELECT number, channel, day, status, count, noticed FROM exceptions"+where+" ORDER BY day DESC, number LIMIT $1", func(k *engine.Chunk) error {
		for i := range k.Rows {
			key, _ := s.dir.Key(engine.Numbers[uint32](k, 1)[i])
			out = append(out, store.Exception{
				Number: engine.Numbers[uint64](k, 0)[i], Key: key, Day: store.Day(engine.Numbers[int32](k, 2)[i]), Status: engine.Numbers[uint32](k, 3)[i],
				Count: int(engine.Numbers[uint32](k, 4)[i]), Noticed: time.Unix(int64(engine.Numbers[uint32](k, 5)[i]), 0).UTC(),
			})
		}
		return nil
	}, args...)
	if err != nil {
		return nil, failed(op, q.Meter, err)
	}
	return out, nil
}

// Settle implements store.Judged.
func (s *Store) Settle(ctx context.Context, number uint64, who, why string) error {
	const op = "metering.Settle"
	if err := s.begin(ctx, op); err != nil {
		return err
	}
	defer s.write.Unlock()
	there := false
	if err := s.writer.Query(ctx, "SELECT 1 FROM exceptions WHERE number = $1", func(k *engine.Chunk) error {
		there = there || k.Rows > 0
		return nil
	}, number); err != nil {
		return failed(op, "", err)
	}
	if err := store.CheckSettle(op, number, there, who, why); err != nil {
		return err
	}
	err := s.transaction(ctx, func(c *engine.Conn) error {
		if err := c.Exec(ctx, "INSERT INTO settled SELECT number, channel, day, status, $2, $3, $4, count FROM exceptions WHERE number = $1", number, who, why, moment(s)); err != nil {
			return err
		}
		return c.Exec(ctx, "DELETE FROM exceptions WHERE number = $1", number)
	})
	if err != nil {
		return failed(op, "", err)
	}
	return nil
}
