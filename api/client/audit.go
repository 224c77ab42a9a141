package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"voltbus/api/answer"
	"voltbus/fault"
)

// AuditFilter selects entries of the audit log; "" selects all. Times are as people write them.
type AuditFilter struct {
	From, To                       string
	Actor, Action, Subject, Search string
	Limit                          int    // of a page; 0 for the node's choice
	Before                         uint64 // the Next of the page before
}

func (f *AuditFilter) params() url.Values {
	params := url.Values{}
	for name, value := range map[string]string{
		"from": f.From, "to": f.To, "actor": f.Actor, "action": f.Action, "subject": f.Subject, "text": f.Search,
	} {
		set(params, name, value)
	}
	return params
}

// Audit returns a page of the audit log, the newest entry first.
func (c *Client) Audit(ctx context.Context, f AuditFilter) (a answer.Audit, err error) {
	params := f.params()
	setNumber(params, "limit", f.Limit)
	if f.Before > 0 {
		params.Set("before", strconv.FormatUint(f.Before, 10))
	}
	return a, c.get(ctx, "audit", params, &a)
}

// ExportAudit writes entries as lines of JSON, the oldest first.
func (c *Client) ExportAudit(ctx context.Context, f AuditFilter, to io.Writer) error {
	resp, err := c.call(ctx, http.MethodGet, "audit/export", f.params(), nil)
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
func (c *Client) VerifyAudit(ctx context.Context, expect string) (r answer.AuditReport, err error) {
	params := url.Values{}
	set(params, "expect", expect)
	return r, c.get(ctx, "audit/verify", params, &r)
}

// AcceptAuditDamage accepts the damage that the audit log has now, for a reason. fault.NotFound: it has none.
func (c *Client) AcceptAuditDamage(ctx context.Context, reason string) (r answer.AuditReport, err error) {
	return r, c.change(ctx, http.MethodPost, "audit/accept", map[string]string{"reason": reason}, &r)
}
