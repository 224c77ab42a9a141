package catalog

import (
	"context"
	"fmt"
)

// SetVersion writes the version of the file, as another program would.
func (c *Catalog) SetVersion(ctx context.Context, version int) error {
	_, err := c.db.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version))
	return err
}

// MakeVersion1 takes back what the second migration did.
func (c *Catalog) MakeVersion1(ctx context.Context) error {
	if _, err := c.db.ExecContext(ctx, `ALTER TABLE point DROP COLUMN since`); err != nil {
		return err
	}
	return c.SetVersion(ctx, 1)
}
