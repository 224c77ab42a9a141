package catalog

import (
	"context"
	"database/sql"

	"voltbus/presence"
)

// AlertStore keeps the open alerts of agents.
type AlertStore struct{ *file }

var _ presence.Keeper = (*AlertStore)(nil)

// Alerts implements presence.Keeper.
func (s *AlertStore) Alerts(ctx context.Context) ([]presence.Alert, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT agent, key, severity, text, first, last, count FROM alert ORDER BY agent, key`)
	if err != nil {
		return nil, wrap("catalog.Alerts", "", err)
	}
	defer rows.Close()
	var list []presence.Alert
	for rows.Next() {
		var a presence.Alert
		var first, last sql.NullInt64
		if err := rows.Scan(&a.Agent, &a.Key, &a.Severity, &a.Text, &first, &last, &a.Count); err != nil {
			return nil, wrap("catalog.Alerts", "", err)
		}
		a.First, a.Last = fromMicros(first), fromMicros(last)
		list = append(list, a)
	}
	return list, wrap("catalog.Alerts", "", rows.Err())
}

// KeepAlerts implements presence.Keeper.
func (s *AlertStore) KeepAlerts(ctx context.Context, open, closed []presence.Alert) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		for i := range closed {
			if _, err := tx.ExecContext(ctx, `DELETE FROM alert WHERE agent = ? AND key = ?`, closed[i].Agent, closed[i].Key); err != nil {
				return err
			}
		}
		for i := range open {
			a := &open[i]
			_, err := tx.ExecContext(ctx, `
				INSERT INTO alert (agent, key, severity, text, first, last, count) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (agent, key) DO UPDATE SET severity = excluded.severity, text = excluded.text,
					first = excluded.first, last = excluded.last, count = excluded.count`,
				a.Agent, a.Key, string(a.Severity), a.Text, micros(a.First), micros(a.Last), a.Count)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("catalog.KeepAlerts", "", err)
}
