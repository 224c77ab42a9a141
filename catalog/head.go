package catalog

import (
	"context"
	"database/sql"
	"time"
)

// AuditHead is where an audit log ended at the last report.
type AuditHead struct {
	Node   string    // the name of the child; "" for this node
	Joined time.Time // when the child joined: one that joins anew has another log
	Head   string    // as the node tells it
}

// HeadStore keeps where audit logs ended.
type HeadStore struct{ *file }

// AuditHeads lists what is known of where audit logs ended.
func (s *HeadStore) AuditHeads(ctx context.Context) ([]AuditHead, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT node, joined, head FROM audit_head`)
	if err != nil {
		return nil, wrap("catalog.AuditHeads", File, err)
	}
	defer rows.Close()
	var list []AuditHead
	for rows.Next() {
		var h AuditHead
		var joined sql.NullInt64
		if err := rows.Scan(&h.Node, &joined, &h.Head); err != nil {
			return nil, wrap("catalog.AuditHeads", File, err)
		}
		h.Joined = fromMicros(joined)
		list = append(list, h)
	}
	return list, wrap("catalog.AuditHeads", File, rows.Err())
}

// KeepAuditHeads keeps where audit logs ended, in one transaction.
func (s *HeadStore) KeepAuditHeads(ctx context.Context, list []AuditHead) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		for _, h := range list {
			_, err := tx.ExecContext(ctx, `INSERT INTO audit_head (node, joined, head) VALUES (?, ?, ?)
				ON CONFLICT (node) DO UPDATE SET joined = excluded.joined, head = excluded.head`, h.Node, h.Joined.UnixMicro(), h.Head)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("catalog.KeepAuditHeads", File, err)
}
