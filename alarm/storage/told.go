package storage

import (
	"context"
	"errors"
)

// told keeps who was told of which alarm. Programs that do not know the table leave it alone.
const told = `CREATE TABLE IF NOT EXISTS told (alarm TEXT NOT NULL, contact TEXT NOT NULL, PRIMARY KEY (alarm, contact)) WITHOUT ROWID`

// Told lists who was told of which alarm: pairs of an alarm and a contact.
func (s *Storage) Told(ctx context.Context) (list [][2]string, err error) {
	const op = "alarms.Told"
	rows, err := s.db.QueryContext(ctx, `SELECT alarm, contact FROM told`)
	if err != nil {
		return nil, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var t [2]string
		if err := rows.Scan(&t[0], &t[1]); err != nil {
			return nil, s.wrap(op, err)
		}
		list = append(list, t)
	}
	return list, s.wrap(op, rows.Err())
}

// SaveTold adds who was told, and forgets alarms that are gone, all or nothing.
func (s *Storage) SaveTold(ctx context.Context, list [][2]string, gone []string) error {
	const op = "alarms.SaveTold"
	s.mu.Lock()
	defer s.mu.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(op, err)
	}
	for _, t := range list {
		_, bad := tx.ExecContext(ctx, `INSERT OR IGNORE INTO told (alarm, contact) VALUES (?, ?)`, t[0], t[1])
		err = errors.Join(err, bad)
	}
	for _, id := range gone {
		_, bad := tx.ExecContext(ctx, `DELETE FROM told WHERE alarm = ?`, id)
		err = errors.Join(err, bad)
	}
	if err != nil {
		_ = tx.Rollback() // on a full disk SQLite has done so itself
		return s.wrap(op, err)
	}
	return s.wrap(op, tx.Commit())
}
