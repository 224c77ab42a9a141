package storage

import (
	"context"
	"database/sql"

	"voltbus/broker/command"
	"voltbus/point"
)

// Commands implements command.Storage.
func (s *Storage) Commands(ctx context.Context, each func(command.Known)) error {
	rows, err := s.db.QueryContext(ctx, `SELECT point, topic, detail FROM command`)
	if err != nil {
		return s.wrap("storage.Commands", err)
	}
	defer rows.Close()
	for rows.Next() {
		var k command.Known
		var path string
		if err := rows.Scan(&path, &k.Topic, &k.Detail); err != nil {
			return s.wrap("storage.Commands", err)
		}
		k.Point = point.Path(path)
		each(k)
	}
	return s.wrap("storage.Commands", rows.Err())
}

// PutCommands implements command.Storage.
func (s *Storage) PutCommands(ctx context.Context, list []command.Known) error {
	return s.write(ctx, "storage.PutCommands", func(tx *sql.Tx) error {
		in, err := tx.PrepareContext(ctx, `INSERT INTO command (point, topic, detail) VALUES (?, ?, ?)
			ON CONFLICT (point) DO UPDATE SET topic = excluded.topic, detail = excluded.detail`)
		if err != nil {
			return err
		}
		defer in.Close()
		for i := range list {
			if _, err := in.ExecContext(ctx, string(list[i].Point), list[i].Topic, list[i].Detail); err != nil {
				return err
			}
		}
		return nil
	})
}
