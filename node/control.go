package node

import (
	"context"

	"voltbus/config"
	"voltbus/control"
	"voltbus/control/desk"
	"voltbus/control/journal"
	"voltbus/identity"
)

// openControl makes the desk that decides about commands, with what was commanded before.
func (n *Node) openControl(ctx context.Context) error {
	if n.opts.Idle {
		return nil
	}
	n.journal = journal.Open(n.opts.Config.Node.Data, now)
	var err error
	n.desk, err = desk.Open(ctx, desk.Config{
		Points: controlled(n.opts.Config), Fleet: n.fleet, Journal: n.journal, Audit: n.audit, Log: n.log,
	})
	if err != nil {
		return err
	}
	n.agents.Notify(n.releaseRevoked)
	return nil
}

// controlled describes the points of the configured devices for those who command them.
func controlled(cfg *config.Config) []desk.Point {
	var points []desk.Point
	for i := range cfg.Devices {
		for _, info := range pointInfos(&cfg.Devices[i]) {
			points = append(points, desk.Point{Spec: control.Spec{
				Point: info.Path, Device: info.Device, Unit: info.Unit, Kind: info.Kind, Writable: info.Writable,
			}})
		}
	}
	return points
}

// declare tells the desk of the points of a changed configuration.
func (n *Node) declare(ctx context.Context, cfg *config.Config) error {
	if n.desk == nil {
		return nil
	}
	return n.desk.Declare(ctx, controlled(cfg))
}

// releaseRevoked ends everything of an agent that may not do anything any more.
func (n *Node) releaseRevoked(c identity.AgentChange) {
	if c.What == identity.AgentRevoked || c.What == identity.AgentRemoved {
		n.desk.Dismiss("agent:" + c.Before.Name)
	}
}
