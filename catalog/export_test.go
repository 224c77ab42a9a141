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

// MakeVersion1 takes back what the migrations after the first did.
func (c *Catalog) MakeVersion1(ctx context.Context) error {
	_, err := c.db.ExecContext(ctx, `ALTER TABLE point DROP COLUMN since; ALTER TABLE point DROP COLUMN child;
		ALTER TABLE credential DROP COLUMN under; DROP TABLE repeat;
		ALTER TABLE credential DROP COLUMN id; ALTER TABLE credential DROP COLUMN name;
		ALTER TABLE credential DROP COLUMN most;
		ALTER TABLE user DROP COLUMN password;
		DROP TABLE alert; DROP TABLE agent;
		DROP TABLE document; DROP TABLE document_schema;
		DROP TABLE child; DROP TABLE invitation`)
	if err != nil {
		return err
	}
	return c.SetVersion(ctx, 1)
}

// MaxRepeats is how many writes with a key are remembered.
const MaxRepeats = maxRepeats

// FillRepeats notes n writes of the user, each a microsecond after the one before.
func (c *Catalog) FillRepeats(ctx context.Context, user string, n int) error {
	_, err := c.db.ExecContext(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO repeat SELECT ?, 'key' || i, x'00', ? + i, 204, x'' FROM n`, n, user, micros(c.now()))
	return err
}
