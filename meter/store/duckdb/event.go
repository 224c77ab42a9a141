package duckdb

import (
	"context"

	"voltbus/meter/store/duckdb/eventtable"
	"voltbus/store/duckdb/engine"
)

// openEvents opens the tables of events.
func openEvents(ctx context.Context, s *Store) error {
	place, err := eventtable.Open(ctx, s.writer)
	s.Keeper = eventtable.NewKeeper(eventtable.Host{
		Write: func(ctx context.Context, op string, f func(c *engine.Conn, recorded uint32) error, committed func()) error {
			if err := s.begin(ctx, op); err != nil {
				return err
			}
			defer s.write.Unlock()
			recorded := moment(s)
			err := s.transaction(ctx, func(c *engine.Conn) error {
				if err := f(c, recorded); err != nil {
					return err
				}
				return c.Exec(ctx, "UPDATE state SET newest = $1", recorded)
			})
			if err != nil {
				return failed(op, s.options.Dir, err)
			}
			s.newest = recorded
			committed()
			return nil
		},
		Read: s.reader, Failed: failed,
	}, place)
	return err
}
