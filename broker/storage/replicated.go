package storage

import (
	"context"
	"database/sql"
	"errors"

	"voltbus/broker/cluster"
)

// replicated is what version 3 has more: what the brokers of replicas have in common.
const replicated = `
CREATE TABLE replicated (
	kind INTEGER NOT NULL, key BLOB NOT NULL, owner TEXT NOT NULL, place INTEGER NOT NULL, behind INTEGER NOT NULL, body BLOB NOT NULL,
	PRIMARY KEY (kind, key)
) WITHOUT ROWID;
`

const rowColumns = `kind, key, owner, place, behind, body`

func scanRow(scan func(...any) error) (r cluster.Row, err error) {
	var key []byte
	err = scan(&r.Kind, &key, &r.Owner, &r.At, &r.Behind, &r.Body)
	r.Key = string(key)
	return r, err
}

// Rows implements cluster.Store.
func (s *Storage) Rows(ctx context.Context, kind cluster.Kind, owner string, each func(cluster.Row) error) error {
	return s.rows(ctx, each, `SELECT `+rowColumns+` FROM replicated WHERE kind = ? AND (? = '' OR owner = ?)`, kind, owner, owner)
}

// Page implements cluster.Store.
func (s *Storage) Page(ctx context.Context, kind cluster.Kind, key string, most int) (list []cluster.Row, err error) {
	err = s.rows(ctx, func(r cluster.Row) error {
		list = append(list, r)
		return nil
	}, `SELECT `+rowColumns+` FROM replicated WHERE kind <> ? AND (kind, key) > (?, ?) ORDER BY kind, key LIMIT ?`, cluster.MetaRow, kind, []byte(key), most)
	return list, err
}

func (s *Storage) rows(ctx context.Context, each func(cluster.Row) error, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.wrap("storage.Rows", err)
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRow(rows.Scan)
		if err != nil {
			return s.wrap("storage.Rows", err)
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return s.wrap("storage.Rows", rows.Err())
}

// Row implements cluster.Store.
func (s *Storage) Row(ctx context.Context, kind cluster.Kind, key string) (cluster.Row, error) {
	r, err := scanRow(s.db.QueryRowContext(ctx, `SELECT `+rowColumns+` FROM replicated WHERE kind = ? AND key = ?`, kind, []byte(key)).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return cluster.Row{}, nil
	}
	return r, s.wrap("storage.Row", err)
}

// Write implements cluster.Store. What is there from a later place in the journal stays.
func (s *Storage) Write(ctx context.Context, list []cluster.Row, empty bool) error {
	return s.write(ctx, "storage.Write", func(tx *sql.Tx) error {
		if empty {
			if _, err := tx.ExecContext(ctx, `DELETE FROM replicated`); err != nil {
				return err
			}
		}
		put, err := tx.PrepareContext(ctx, `INSERT INTO replicated (`+rowColumns+`) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO UPDATE
			SET owner = excluded.owner, place = excluded.place, behind = excluded.behind, body = excluded.body WHERE excluded.place >= place`)
		if err != nil {
			return err
		}
		defer put.Close()
		for i := range list {
			r := &list[i]
			switch key := []byte(r.Key); {
			case r.Same:
				_, err = tx.ExecContext(ctx, `UPDATE replicated SET owner = ?, place = ?, behind = ? WHERE kind = ? AND key = ? AND place <= ?`,
					r.Owner, r.At, r.Behind, r.Kind, key, r.At)
			case r.Body == nil:
				_, err = tx.ExecContext(ctx, `DELETE FROM replicated WHERE kind = ? AND key = ? AND place <= ?`, r.Kind, key, r.At)
			default:
				_, err = put.ExecContext(ctx, r.Kind, key, r.Owner, r.At, r.Behind, r.Body)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
