package duckdb

import (
	"context"

	"voltbus/meter/store"
	"voltbus/store/duckdb/engine"
)

func loadStrays(ctx context.Context, s *Store, c *engine.Conn) error {
	return c.Query(ctx, "SELECT source, count(*)::BIGINT FROM strays GROUP BY source", func(k *engine.Chunk) error {
		for i := range k.Rows {
			n := uint64(engine.Numbers[int64](k, 1)[i])
			s.strays.Of[store.OriginOf(s.sources[engine.Numbers[uint32](k, 0)[i]].Origin.Who)] += n
			s.strays.All += n
		}
		return nil
	})
}

// Waiting implements store.Keeper.
func (s *Store) Waiting(meant func(origin string) bool) (of, all uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for origin, n := range s.strays.Of {
		if meant(origin) {
			of += n
		}
	}
	return of, s.strays.All
}
