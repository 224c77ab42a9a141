package engine

import "context"

// Count runs a statement whose result is one number.
func Count(ctx context.Context, c *Conn, statement string, args ...any) (uint64, error) {
	var n uint64
	err := c.Query(ctx, statement, func(ch *Chunk) error {
		n = Numbers[uint64](ch, 0)[0]
		return nil
	}, args...)
	return n, err
}
