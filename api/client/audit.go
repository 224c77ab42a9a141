package client

import (
	"context"
	"io"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/auditlog"
)

// AuditFilter selects entries of the audit log; "" selects all. Times are as people write them.
type AuditFilter struct {
	From, To                       string
	Actor, Action, Subject, Search string
	Limit                          int    // of a page; 0 for the node's choice
	Before                         uint64 // the Next of the page before
}

func (f *AuditFilter) selects() auditlog.Filter {
	return auditlog.Filter{
		From: operation.Time(f.From), To: operation.Time(f.To), Actor: f.Actor, Action: f.Action, Subject: f.Subject, Search: f.Search,
	}
}

// Audit returns a page of the audit log, the newest entry first.
func (c *Client) Audit(ctx context.Context, f AuditFilter) (answer.Audit, error) {
	return Do(ctx, c, auditlog.List, auditlog.Page{Filter: f.selects(), Limit: f.Limit, Before: int(f.Before)}) //nolint:gosec // it is a number that came from there
}

// ExportAudit writes entries as lines of JSON, the oldest first.
func (c *Client) ExportAudit(ctx context.Context, f AuditFilter, to io.Writer) error {
	resp, err := ask(ctx, c, auditlog.Export, f.selects())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fault.E("client.ExportAudit", fault.Unreachable, "audit", err)
	}
	return nil
}

// VerifyAudit follows the chain of the audit log, and looks for a head that was kept, if it is not "".
func (c *Client) VerifyAudit(ctx context.Context, expect string) (answer.AuditReport, error) {
	return Do(ctx, c, auditlog.Verify, auditlog.Kept{Expect: expect})
}

// AcceptAuditDamage accepts the damage that the audit log has now, for a reason. fault.NotFound: it has none.
func (c *Client) AcceptAuditDamage(ctx context.Context, reason string) (answer.AuditReport, error) {
	return Do(ctx, c, auditlog.Accept, auditlog.Reason{Reason: reason})
}
