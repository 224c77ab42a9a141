package manifest

import (
	"context"

	"voltbus/store/duckdb/engine"
)

// Counters are counts that cannot be derived from the data.
type Counters struct{ Replaced, Expired, Overwritten uint64 }

// LoadCounters reads the counters.
func LoadCounters(ctx context.Context, c *engine.Conn) (n Counters, err error) {
	err = c.Query(ctx, "SELECT replaced, expired, coalesce(overwritten, 0) FROM counters", func(ch *engine.Chunk) error {
		n = Counters{engine.Numbers[uint64](ch, 0)[0], engine.Numbers[uint64](ch, 1)[0], engine.Numbers[uint64](ch, 2)[0]}
		return nil
	})
	return n, err
}

// SaveCounters writes them, within the connection's transaction.
func SaveCounters(ctx context.Context, c *engine.Conn, n Counters) error {
	return c.Exec(ctx, "UPDATE counters SET replaced = $1, expired = $2, overwritten = $3", n.Replaced, n.Expired, n.Overwritten)
}
