package node

import (
	"context"
	"encoding/json"
	"log/slog"

	"voltbus/api"
	"voltbus/audit"
	"voltbus/operation"
	"voltbus/operation/documents"
)

// newOperations returns what this node can be asked for by declared operations.
func (n *Node) newOperations() *operation.Table {
	return operation.NewTable(n.tellOperation, (&documents.Part{Documents: n.docs, Agents: n.agents}).Operations())
}

// tellOperation writes into the audit log who did something, and how it ended. What cannot be written does not undo what was done: the
// health tells. What agents do, and what visitors are refused, has an allowance: programs ask without end.
func (n *Node) tellOperation(ctx context.Context, e operation.Entry) {
	entry := audit.Entry{Actor: e.Caller.Name, Action: e.Action, Subject: e.Subject, Outcome: api.Ending(e.Err), Time: now()}
	if e.Detail != nil {
		entry.Detail, _ = json.Marshal(e.Detail) // texts, numbers and lists of them
	}
	if e.Caller.IsAgent() || (e.Caller.Visitor && e.Err != nil) {
		n.audit.Offer(entry)
		return
	}
	if err := n.audit.Append(context.WithoutCancel(ctx), entry); err != nil {
		n.log.ErrorContext(ctx, "the audit log cannot be written", slog.String("action", e.Action), slog.Any("err", err))
	}
}
