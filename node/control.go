package node

import (
	"context"

	"voltbus/bus"
	"voltbus/config"
	"voltbus/control/access"
	"voltbus/control/dispatch"
	"voltbus/control/mismatch"
	"voltbus/control/requester"
	"voltbus/control/term"
	"voltbus/health"
	"voltbus/operation"
	"voltbus/operation/declared"
	"voltbus/owner"
	"voltbus/point"
	"voltbus/schedule/keeper"
	"voltbus/uplink/replica"
)

// openControl opens the dispatcher that decides about commands, with the earlier commands.
func openControl(ctx context.Context, n *Node) error {
	if n.opts.Idle {
		return nil
	}
	cfg := n.opts.Config.Control
	requesters := &requester.Directory{Online: n.bus.Online, Children: n.children, Tree: n.tree, Neighbours: n.neighbours}
	n.present = owner.NewPresent(n.bus.Mesh(), requesters.Present)
	n.mismatch = &mismatch.Alert{
		Raise: func(key string, message []byte) error { return n.presence.Alert(health.OwnAlerts, key, message) }, Now: now, Log: n.log,
	}
	var err error
	n.dispatcher, err = term.Open(ctx, dispatch.Config{
		Points: n.plant.controlled(n.opts.Config), Devices: n.mqtt.Beside(n.fleet), Audit: n.audit, Log: n.log,
		Online: n.present.Look, Absence: cfg.Absence, Record: func(ctx context.Context, fresh []point.Info, samples []point.Sample) error {
			return recordCommands(ctx, n, fresh, samples)
		},
		Mismatches: n.mismatch.Update,
		Limits:     cfg.Limits(),
	}, term.State{Dir: n.opts.Config.Node.Data, Now: now, Shared: inTurn(n)})
	if err != nil {
		return err
	}
	n.reviewer = &requester.Reviewer{Directory: requesters, Dispatcher: n.dispatcher}
	n.outlet.HearBy(n.dispatcher.Hear)
	n.plant.commands = n.dispatcher
	n.control = access.New(access.Config{Dispatcher: n.dispatcher, Refused: n.report.Control, Freeze: n.fleet.Freeze, Priorities: n.fleet.Priorities, Below: func() []access.Branch { return branches(n.nodes.Nodes()) }})
	n.agents.Notify(n.reviewer.Agent)
	n.schedules = keeper.New(keeper.Options{
		Documents: n.docs, Commander: declared.Commander{Table: func() *operation.Table { return n.asked }}, Raise: n.mismatch.Raise, Now: now, Log: n.log,
	})
	return nil
}

// inTurn returns how a replica controls in turn with the others; nil for a node alone.
func inTurn(n *Node) *term.Shared {
	mesh := n.bus.Mesh()
	if n.leases == nil || mesh == nil {
		return nil
	}
	return &term.Shared{
		Self: mesh.Self(), Right: n.leases.Control(func() bool { return n.dispatcher.Busy() }),
		Open: func(ctx context.Context) (term.Log, error) { return mesh.Journal(ctx, "control", term.MaxBytes) },
	}
}

// branches lists the paths under which the points of descendants lie.
func branches(below []replica.Node) []access.Branch {
	var list []access.Branch
	for i := range below {
		list = append(list, access.Branch{Node: below[i].Name, Prefix: below[i].Prefix})
	}
	return list
}

// Control returns the command dispatcher; nil while another replica controls the devices.
func (n *Node) Control() *dispatch.Dispatcher { return n.dispatcher.Current() }

// controlled describes the points of the configured devices, and of others that were found, for control.
func (p *plant) controlled(cfg *config.Config) []dispatch.Point {
	var points []dispatch.Point
	if p.found != nil {
		points = p.found()
	}
	for i := range cfg.Devices {
		for _, c := range cfg.Devices[i].Controlled() {
			points = append(points, dispatch.Point(c))
		}
	}
	return points
}

// recordCommands records commanded values as points.
func recordCommands(ctx context.Context, n *Node, fresh []point.Info, samples []point.Sample) error {
	if len(fresh) > 0 {
		if err := n.catalog.Upsert(ctx, fresh); err != nil {
			return err
		}
	}
	return n.recorder.Record(ctx, samples)
}

// startControl starts what commands need.
func startControl(n *Node, start func(name string, run func(context.Context) error)) {
	start("announcements", func(ctx context.Context) error { return announceControl(ctx, n.dispatcher, n.bus) })
	start("control", n.dispatcher.Run)
	start("schedules", n.schedules.Run)
	start("presence at replicas", n.present.Run)
	start("requests of replicas", n.requests.Run)
}

// announcements is how many rounds of the dispatcher may be queued for publication on the bus.
const announcements = 1024

// announceControl publishes the events of control on the bus, until ctx ends.
func announceControl(ctx context.Context, commands *term.Controller, to *bus.Bus) error {
	w := commands.Watch(announcements)
	defer w.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case events, open := <-w.C:
			for i := range events {
				m := dispatch.MessageOf(&events[i])
				_ = to.Announce(m.Topic(), m.JSON()) // a live message that the bus cannot accept is dropped by design
			}
			if !open {
				<-ctx.Done()
				return nil
			}
		}
	}
}
