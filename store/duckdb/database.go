package duckdb

import (
	"context"
	"path/filepath"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/handle"
)

// database is the open database with the options of the store.
type database struct {
	*handle.Handle

	options Options
}

func (s *database) dayFile(name string) string { return filepath.Join(s.options.Dir, "days", name) }

// copyAlone runs a statement about files in a separate database.
func (s *database) copyAlone(ctx context.Context, statement string, each func(*engine.Chunk) error) error {
	return s.Alone(func(c *engine.Conn) error { return c.Query(ctx, statement, each) })
}
