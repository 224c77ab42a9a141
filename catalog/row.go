package catalog

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/catalog/register"
	"voltbus/point"
)

// The previous program stored each point as a row of the table point. A closed catalogue has rows of its
// points, unless there are many, so that a node can go back to that program; its changes are adopted when the
// file is opened again.

// maxRows is how many points are written as rows, which takes some 10 µs each: a program that knows only rows lists
// further ones again, as devices start and readings arrive.
const maxRows = 20_000

// rowsHold reports whether the rows are current: they were written after the newest block, perhaps by the
// previous program.
func (f *pointFile) rowsHold(ctx context.Context) (bool, error) {
	var block int64
	err := f.db.QueryRowContext(ctx, `SELECT block FROM point_row`).Scan(&block)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	return block+1 == f.blocks.next(), nil
}

const selectRows = `SELECT path, kind, writable, unit, interval, tags, coalesce(removed, 0), coalesce(since, 0), child,
    device, description, first_seen FROM point ORDER BY path`

// takeRows adopts what the rows contain and the blocks do not.
func (f *pointFile) takeRows(ctx context.Context) error {
	if hold, err := f.rowsHold(ctx); err != nil || !hold {
		return err
	}
	d := draft{points: f.register, place: map[string]int{}}
	if err := f.draftRows(ctx, &d); err != nil || len(d.records) == 0 {
		return err
	}
	if err := f.put(ctx, d.records, d.known); err != nil {
		return err
	}
	if f.register.Len() > maxRows {
		return f.transact(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM point`)
			return err
		})
	}
	return nil
}

func (f *pointFile) draftRows(ctx context.Context, d *draft) error {
	rows, err := f.db.QueryContext(ctx, selectRows)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r register.Record
		var kind int64
		err := rows.Scan(&r.Path, &kind, &r.Writable, &r.Unit, &r.Interval, &r.Tags, &r.Removed, &r.Since, &r.Child,
			&r.Device, &r.Description, &r.FirstSeen)
		if err != nil {
			return err
		}
		if r.Kind = point.Kind(kind); r.Tags == "{}" {
			r.Tags = ""
		}
		if old, known := d.find(r.Path); !known || old != r {
			d.add(r)
		}
	}
	return rows.Err()
}

const insertRow = `INSERT INTO point (path, kind, writable, unit, interval, tags, removed, since, child, device, description, first_seen)
VALUES (?, ?, ?, ?, ?, ?, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?)`

// writeRows writes all points as rows, unless there are too many.
func (f *pointFile) writeRows(ctx context.Context) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if hold, err := f.rowsHold(ctx); err != nil || hold || f.register.Len() > maxRows {
		return err
	}
	return f.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM point; DELETE FROM point_row; INSERT INTO point_row VALUES (?)`, f.blocks.next()-1); err != nil {
			return err
		}
		insert, err := tx.PrepareContext(ctx, insertRow)
		if err != nil {
			return err
		}
		defer insert.Close()
		for n := range uint32(f.register.Len()) {
			r := f.register.Record(n)
			if r.Tags == "" {
				r.Tags = "{}"
			}
			_, err := insert.ExecContext(ctx, r.Path, int64(r.Kind), r.Writable, r.Unit, r.Interval, r.Tags, r.Removed, r.Since,
				r.Child, r.Device, r.Description, r.FirstSeen)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
