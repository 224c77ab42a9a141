package client

import (
	"context"
	"io"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/auditlog"
)

// AuditFilter selects entries of the audit log; "" selects all. Times are in the forms that people write.
type AuditFilter struct {
	From, To                       string
	Actor, Action, Subject, Search string
	Limit                          int    // of a page; 0 for the node's choice
	Before                         uint64 // Next of the previous page
}

func (f *AuditFilter) selects() auditlog.Filter {
	return auditlog.Filter{
		From: operation.Time(f.From), To: operation.Time(f.To), Actor: f.Actor, Action: f.Action, Subject: f.Subject, Search: f.Search,
	}
}

// Page are the arguments of auditlog.List.
func (f AuditFilter) Page() auditlog.Page {
	return auditlog.Page{Filter: f.selects(), Limit: f.Limit, Before: int(f.Before)} //nolint:gosec // it is a number that came from there
}

// ExportAudit writes entries as lines of JSON, oldest first.
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
