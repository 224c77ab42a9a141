package node

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/audit"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/declared"
	"voltbus/operation/processes"
	"voltbus/query"
	"voltbus/wire"
)

// newOperations returns what this node can be asked for by declared operations.
func (n *Node) newOperations() *operation.Table {
	settings := operation.Absent((&configuration.Part{}).Operations())
	if n.opts.File != "" {
		n.settings = openSettings(n)
		settings = n.settings.Operations()
	}
	var p declared.Parts
	p.Control.Access, p.Control.Now = n.control, now
	n.fillMQTT(&p.MQTT)
	p.Documents.Documents, p.Documents.Agents, p.Points.Points = n.docs, n.agents, n.catalog
	p.Devices.Devices, p.Devices.Health, p.Ledger.Ledger, p.Nodes.Nodes, p.Nodes.Version = n, n, n, nodes{n}, n.opts.Version
	p.History.TempDir, p.History.Now = n.opts.Config.Node.Data, now
	if n.store != nil {
		p.History.Engine, p.History.Wide, p.History.SQL = query.New(n.store, n.catalog, query.DefaultLimits(), now), n.wide, n.store
	}
	p.Processes.Now, p.Processes.Concerns = now, func(ctx context.Context) []answer.Concern { return n.Health(ctx).Concerns }
	p.Processes.Supervisor = func() processes.Supervisor {
		if n.supervisor == nil { // none, or not open yet
			return nil
		}
		return n.supervisor
	}
	p.Audit.Log, p.Audit.Now = n.audit, now
	p.People.People, p.People.Node, p.Tokens.Tokens = people{n.identity.Logins, n.reviewPerson}, n.opts.Config.Node.Name, n.identity.Logins
	p.Agents.Registry, p.Agents.Online, p.Agents.Calls = n.agents, n.connections, calls{n}
	aboutChildren(n, &p)
	p.Agents.Peers = func() ([]answer.Peer, error) { return n.service.Peers() }
	aboutAlerts(n, &p)
	if p.Log.Now = now; n.logbook != nil {
		p.Log.Log = n.logbook
	}
	return operation.NewTable(n.tellOperation, p.Operations(), settings, n.meters.Operations()).Reaching(far{n}.operation)
}

// openSettings keeps the file that a node was made from.
func openSettings(n *Node) *configuration.Part {
	part := configuration.New(configuration.Options{
		File: n.opts.File, Data: n.opts.Config.Node.Data, Kinds: n.opts.Kinds,
		Running: n.Config, Apply: n.apply, Allowed: allowed, Log: n.log, Now: now,
		Tell: func(ctx context.Context, action string, err error, detail any) {
			n.tell(ctx, n.deed(action, err, detail))
		},
	})
	if n.opts.WentBack != nil {
		part.WentBack(n.opts.WentBack, n.started)
	}
	return part
}

// operation has another node do an operation in the name of somebody of this one.
func (f far) operation(ctx context.Context, who *operation.Caller, node, name string, args operation.Arguments) (json.RawMessage, error) {
	return f.Ask(ctx, api.Caller{Name: who.Name, Role: who.Role}, api.FarCall{
		Node: node, Agent: wire.NodeName, Method: name, Args: wire.Arguments{Kwargs: args},
	})
}

// tellOperation writes into the audit log who did something, and how it ended. What cannot be written does not undo what was done: the
// health tells. What agents do, and what visitors are refused, has an allowance: programs ask without end.
func (n *Node) tellOperation(ctx context.Context, e operation.Entry) {
	entry := audit.Entry{Actor: e.Caller.Name, Action: e.Action, Subject: e.Subject, Outcome: exchange.Ending(e.Err), Time: now()}
	if e.Detail != nil {
		entry.Detail, _ = json.Marshal(e.Detail) // texts, numbers and lists of them
	}
	if e.Reading {
		entry.Subject = cmp.Or(entry.Subject, n.opts.Config.Node.Name)
		n.audit.Gather(entry)
		return
	}
	if e.Caller.IsAgent() || (e.Caller.Visitor && e.Err != nil) {
		n.audit.Offer(entry)
		return
	}
	if err := n.audit.Append(context.WithoutCancel(ctx), entry); err != nil {
		n.log.ErrorContext(ctx, "the audit log cannot be written", slog.String("action", e.Action), slog.Any("err", err))
	}
}
