package api_test

import (
	"context"
	"encoding/json"
	"slices"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/audit"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/auditlog"
	listed "voltbus/operation/devices"
	"voltbus/operation/history"
	"voltbus/operation/lab"
	account "voltbus/operation/ledger"
	"voltbus/operation/nodes"
	"voltbus/operation/people"
	"voltbus/operation/points"
	"voltbus/operation/tokens"
	"voltbus/query"
	"voltbus/store"
)

// operations returns what a node can be asked for whose parts are those of the configuration, changed as a test wants.
func operations(c *api.Config, change ...func(*history.Part)) *operation.Table {
	catalogue, _ := c.Points.(query.Catalog)
	past, _ := c.Stats.(store.Store)
	statements, _ := c.Health.(store.SQL)
	part := history.Part{Engine: query.New(past, catalogue, query.DefaultLimits(), c.Now), SQL: statements, Now: c.Now}
	for _, f := range change {
		f(&part)
	}
	now := late{c}
	return tableOf(c, (&points.Part{Points: c.Points}).Operations(), part.Operations(), (&listed.Part{Devices: now, Health: now}).Operations(),
		(&account.Part{Ledger: now}).Operations(), (&nodes.Part{Nodes: now, Version: c.Version}).Operations())
}

// late asks the parts of a configuration as they are when somebody asks.
type late struct{ *api.Config }

func (l late) Devices(ctx context.Context) ([]answer.Device, error) {
	return l.Config.Devices.Devices(ctx)
}

func (l late) Health(ctx context.Context) answer.Health { return l.Config.Health.Health(ctx) }

func (l late) Ledger(ctx context.Context) (answer.Ledger, error) { return l.Config.Ledger.Ledger(ctx) }

func (l late) LedgerBelow(ctx context.Context) (answer.Ledger, error) {
	return l.Config.Ledger.LedgerBelow(ctx)
}
func (l late) Nodes(ctx context.Context) (answer.Nodes, error) { return l.Config.Nodes.Nodes(ctx) }

func (l late) Node(ctx context.Context, name string) (answer.Node, error) {
	of, _ := l.Config.Nodes.(nodes.Nodes)
	return of.Node(ctx, name)
}

// tableOf returns a table of operations, which tells the audit log that there is when one is asked for.
func tableOf(c *api.Config, lists ...[]operation.Bound) *operation.Table {
	deeds, _ := c.Audit.(auditlog.Log)
	logins, _ := c.Auth.(*identity.Logins)
	lists = append(lists, (&people.Part{People: logins, Node: c.Node}).Operations(), (&tokens.Part{Tokens: logins}).Operations())
	lists = append(lists, (&lab.Part{Lab: c.Lab}).Operations())
	lists = append(lists, (&auditlog.Part{Log: deeds, Now: c.Now}).Operations())
	return operation.NewTable(func(ctx context.Context, e operation.Entry) {
		if c.Audit == nil {
			return
		}
		entry := audit.Entry{Actor: e.Caller.Name, Action: e.Action, Subject: e.Subject, Outcome: exchange.Ending(e.Err), Time: noon()}
		if e.Detail != nil {
			entry.Detail, _ = json.Marshal(e.Detail)
		}
		_ = c.Audit.Append(context.WithoutCancel(ctx), entry)
	}, slices.Concat(lists...))
}

// withEngine puts an engine in place of the node's, which it is given.
func withEngine(of func(history.Engine) history.Engine) func(*api.Config) {
	return func(c *api.Config) {
		c.Operations = operations(c, func(p *history.Part) { p.Engine = of(p.Engine) })
	}
}
