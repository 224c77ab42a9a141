package catalog

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/catalog/register"
	"voltbus/point"
)

// The program before kept each point as a row of the table point. A catalogue that is closed has rows of its
// points, unless they are many, so that a node can go back to that program; what that one changed is taken over
// when the file is opened again.

// maxRows is how many points are written as rows, which takes some 10 µs each: more are listed anew by a program that
// knows rows only, as devices start and readings come.
const maxRows = 20_000

// rowsHold reports whether the rows say how points are: they were written behind the newest block, perhaps by
// the program before.
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

// takeRows takes over what the rows say and the blocks do not.
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

// writeRows makes the rows those of all points, if they are not too many.
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
