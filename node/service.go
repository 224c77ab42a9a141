package node

import (
	"context"
	"log/slog"
	"strings"

	"voltbus/bus"
	"voltbus/bus/dispatch"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/service"
	"voltbus/service/agentcall"
	"voltbus/uplink/remote"
	"voltbus/uplink/router"
	"voltbus/wire"
)

// openService opens the service that answers agents and receives their health.
func openService(ctx context.Context, n *Node) error {
	var err error
	if n.presence, err = presence.Open(ctx, n.catalog, now); err != nil {
		return err
	}
	if err = openAlarms(ctx, n); err != nil {
		return err
	}
	n.asker = &remote.Asker{Tree: n.tree, Roles: func(method string) identity.Role { return n.service.Role(method) }}
	n.alarmsBelow = remote.NewAlarms(n.asker, n.nodes, n.opts.Config.Node.Name, now)
	calls := &agentcall.Calls{Agents: n.agents, Bus: n.bus}
	n.asked = newOperations(n, calls)
	n.requests = n.leases.Forward(n.bus, n.asked, n.dispatcher)
	cfg := service.Config{
		Node: n.opts.Config.Node.Name, Registry: n.agents, Presence: n.presence, Bus: onlookers{n.bus},
		Admission: n.admission, Bounds: n.opts.Config.Ingest.Bounds(), Repeats: n.catalog.Repeats(n.opts.Config.Ingest.Retry),
		Operations: n.asked, Tree: n.tree, Live: n.bus,
		Refused: n.report.Agent, Log: n.log, Now: now,
	}
	n.service = service.New(cfg)
	n.answerer = &remote.Answerer{Operations: n.asked, Service: n.service, Registry: n.agents, Agents: calls, Bus: n.bus}
	_, err = n.bus.Messages([]point.Pattern{wire.HealthTopic, wire.AlertTopic + "/**"}, func(m bus.Message) { receiveState(n, m) })
	if err != nil {
		return err
	}
	n.router = &router.Router{
		Host: n.host, Served: n.served, Enrolment: n.parent, Tree: n.tree, Lineage: n.lineage, Table: n.nodes, Reporter: n.reporter, Heads: n.heads,
		Neighbours: n.neighbours, Federation: n.below,
		Allowed: func() (identity.Grants, error) { return allowed(&n.Config().Uplink) },
		Agents: func(ctx context.Context, r *dispatch.Request, later func(work func())) []byte {
			return n.service.Answer(ctx, service.Call{From: r.From, Method: r.Method, Body: r.Data, Park: r.Park, Later: later})
		},
	}
	return n.bus.Serve(wire.CallPrefix+wire.NodeName+".", func(ctx context.Context, r dispatch.Request) {
		var later []func()
		_ = r.Respond(n.router.Answer(ctx, &r, func(work func()) { later = append(later, work) })) // the caller may have disconnected
		for _, work := range later {
			work()
		}
	})
}

// receiveState receives the health or an alert of an agent. Errors in it are left to the agent.
func receiveState(n *Node, m bus.Message) {
	if strings.Contains(m.From, "/") {
		return // an agent of another node, which tracks its health
	}
	var err error
	if m.Topic == wire.HealthTopic {
		if err = n.presence.Health(m.From, m.Data); err == nil {
			heardOf(n.supervisor, m.From, m.Data)
		}
	} else {
		err = n.presence.Alert(m.From, strings.TrimPrefix(string(m.Topic), wire.AlertTopic+"/"), m.Data)
	}
	if err != nil {
		n.log.Debug("what an agent says of itself is refused", slog.String("agent", m.From), slog.Any("err", err))
	}
}

// onlookers implements service.Bus.
type onlookers struct{ bus *bus.Bus }

// Connections implements service.Bus.
func (o onlookers) Connections() ([]service.Connection, error) {
	online := o.bus.Online()
	list := make([]service.Connection, len(online))
	for i, p := range online {
		list[i] = service.Connection{Agent: p.Name, Since: p.Since.UTC(), Address: p.Address}
	}
	return list, nil
}
