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
	if err := c.kept.writeRows(ctx); err != nil {
		return err
	}
	_, err := c.db.ExecContext(ctx, `DROP VIEW point_now; DROP TABLE point_block; DROP TABLE point_row;
		ALTER TABLE point DROP COLUMN since; ALTER TABLE point DROP COLUMN child;
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

// HoldRepeats has all who begin or end a write with a key wait until release is called.
func (c *Catalog) HoldRepeats() (release func()) {
	c.notes.lead <- struct{}{}
	return func() { <-c.notes.lead }
}

// Blocks returns how many blocks of points there are, and how many points stand in them, outdated ones too.
func (c *Catalog) Blocks(ctx context.Context) (blocks, points int, err error) {
	err = c.db.QueryRowContext(ctx, `SELECT count(DISTINCT block.id), count(path.value)
		FROM point_block AS block, json_each(block.points) AS line, json_each(line.value, '$[11]') AS path`).Scan(&blocks, &points)
	return blocks, points, err
}

// Looked returns the points as who looks at the file sees them.
func (c *Catalog) Looked(ctx context.Context) (lines []string, err error) {
	rows, err := c.db.QueryContext(ctx, `SELECT path || ' ' || unit || ' ' || device || ' ' || tags || ' ' || first_seen || ' ' ||
		coalesce(removed, 'there') FROM point_now ORDER BY path`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}

// SpoilBlock writes something else into a block of points.
func (c *Catalog) SpoilBlock(ctx context.Context) error {
	_, err := c.db.ExecContext(ctx, `UPDATE point_block SET points = substr(points, 1, length(points) / 2)`)
	return err
}

// ChangeRow does what a program does that knows rows only.
func (c *Catalog) ChangeRow(ctx context.Context) error {
	_, err := c.db.ExecContext(ctx, `UPDATE point SET unit = 'MW' WHERE path = 'campus/b2/meter/power';
		INSERT INTO point SELECT 'new', kind, '', '', writable, '', interval, tags, first_seen, NULL, NULL, '' FROM point WHERE unit = 'MW'`)
	return err
}
