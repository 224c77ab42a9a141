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
