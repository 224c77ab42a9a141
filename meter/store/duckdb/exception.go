package duckdb

import (
	"context"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/queue"
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
	list, err := queue.List(ctx, c, s.dir, q)
	if err != nil {
		return nil, failed(op, q.Meter, err)
	}
	return list, nil
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
