package catalog

import (
	"context"
	"database/sql"
	"time"
)

// AuditHead is the end of an audit log at the last report.
type AuditHead struct {
	Node   string    // the name of the child; "" for this node
	Joined time.Time // when the child joined: one that joins again has another log
	Head   string    // as reported by the node
}

// HeadStore stores the ends of audit logs.
type HeadStore struct{ *file }

// AuditHeads lists the known ends of audit logs.
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

// KeepAuditHeads stores ends of audit logs, in one transaction.
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
