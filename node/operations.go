package node

import (
	"context"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/control/requester"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/declared"
	"voltbus/query"
	"voltbus/service/agentcall"
)

// newOperations returns the declared operations of this node.
func newOperations(n *Node, calls *agentcall.Calls) *operation.Table {
	var p declared.Parts
	if n.opts.File != "" {
		n.settings = openSettings(n)
	}
	p.Settings, p.Metering = n.settings, n.meters.Part()
	p.Control.Access, p.Control.Now = n.control, now
	p.Timeline.Log, p.Timeline.Now, p.Timeline.Below = n.audit, now, n.descendants.Connected
	p.Timeline.Table = func() *operation.Table { return n.asked }
	if p.Schedules.Table, p.Schedules.Now = func() *operation.Table { return n.asked }, now; n.schedules != nil {
		p.Schedules.Keeper = n.schedules
	}
	fillMQTT(n, &p.MQTT)
	p.Cluster.Replicas = n.replicas
	p.Sinks.Destinations, p.Sinks.Now, p.Sources.Sources, p.Judge.Destinations, p.Judge.Parent = n.outside, now, n.outside.Sources, n.outside, n.judged
	p.Documents.Documents, p.Documents.Agents, p.Points.Points = n.docs, n.agents, n.catalog
	p.Dashboards.Documents, p.Dashboards.Points = n.docs, n.catalog
	p.Devices.Devices, p.Devices.Health, p.Ledger.Ledger, p.Nodes.Nodes, p.Nodes.Version = devices{n.fleet}, n, n, nodes{n}, n.opts.Version
	p.History.TempDir, p.History.Now = n.opts.Config.Node.Data, now
	if kept := n.history.Store(); kept != nil {
		p.History.Engine, p.History.Wide, p.History.SQL = query.New(kept, n.catalog, query.DefaultLimits(), now), n.wide, kept
	}
	p.Analysis.Documents, p.Analysis.History, p.Analysis.Node, p.Analysis.Now = n.docs, p.History.Engine, n.opts.Config.Node.Name, now
	p.Processes.Now, p.Processes.Concerns = now, func(ctx context.Context) []answer.Concern { return n.Health(ctx).Concerns }
	p.Processes.Supervisor = func() declared.Supervisor {
		if n.installed == nil { // none, or not yet open
			return nil
		}
		return n.installed
	}
	p.Processes.MayShape, p.Lab.Lab, p.Nodes.Bus = access.Shaping(n.agents), n.opts.Lab, inspector{n.bus}
	p.Audit.Log, p.Audit.Now = n.audit, now
	p.People.People, p.People.Node, p.Tokens.Tokens = requester.People{Logins: n.identity.Logins, Reviewer: n.reviewer}, n.opts.Config.Node.Name, n.identity.Logins
	p.People.Zone, p.Analysis.Zone = n.opts.Config.Node.TimeZone, n.opts.Config.Node.TimeZone
	p.Tokens.Members = identity.MemberTokens{Logins: n.identity.Logins}
	p.Agents.Registry, p.Agents.Online, p.Agents.Calls = n.agents, func() map[string]*answer.AgentOnline { return connections(n.bus) }, calls
	aboutChildren(n, &p)
	p.Agents.Peers = func() ([]answer.Peer, error) { return n.service.Peers() }
	aboutAlerts(n, &p)
	if p.Log.Now = now; n.logbook != nil {
		p.Log.Log = n.logbook
	}
	return operation.NewTable(n.report.Operation, p.Operations()).Reaching(n.alarmsBelow.Operation)
}

// openSettings opens the configuration file that the node was started with.
func openSettings(n *Node) *configuration.Part {
	part := configuration.New(configuration.Options{
		File: n.opts.File, Data: n.opts.Config.Node.Data, Kinds: n.opts.Kinds,
		Running: n.Config, Apply: n.plant.apply, Allowed: allowed, Log: n.log, Now: now,
		Tell: n.report.Node,
	})
	if !n.opts.Idle {
		part.Send(n.outside)
	}
	if n.opts.WentBack != nil {
		part.WentBack(n.opts.WentBack, n.started)
	}
	return part
}
