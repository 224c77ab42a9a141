package node

import (
	"context"

	"voltbus/api/answer"
	"voltbus/health"
	"voltbus/health/ownstatus"
	"voltbus/verdict"
)

// openHealth sets up the health checks of this node.
func openHealth(_ context.Context, n *Node) error {
	n.health = health.New(health.Parts{
		Started: n.started, Recorder: n.recorder, Account: n.account, History: n.history, Sink: n.sink, Heads: n.heads, Control: n.dispatcher,
		Mismatch: n.mismatch, Fleet: n.fleet, Presence: n.presence, Agents: n.agents, Supervisor: n.supervisor, Parent: n.parent,
		Sender: n.sender, Settings: n.settings, Online: n.bus.Present, Files: func() []verdict.File { return n.damage.Facts(n.opts.Config.Node.Data, n.parent) }, Damage: n.catalog.Damage,
		Metering: func() []verdict.File { return append(meteringFacts(n.meters), n.outside.Facts()...) }, //nolint:contextcheck // it is asked later
		MQTT: func() error {
			if n.mqtt == nil {
				return nil
			}
			return n.mqtt.Trouble()
		},
		Replicas: func() *verdict.Replicas { return replicaFacts(n.replicas) },
		Delivery: n.meters.Troubles, Alarms: n.monitor.Facts(), Children: n.descendants.Facts, AlarmsBelow: n.alarmsBelow.Alarms, Now: now,
	})
	n.own = &ownstatus.Own{
		Version: n.opts.Version.Version, Data: n.opts.Config.Node.Data, Started: n.started, Config: n.Config, Health: n.health, Heads: n.heads,
		Audit: n.audit, Presence: n.presence, Fleet: n.fleet, Settings: n.settings, Agents: n.agents, Supervisor: n.supervisor, History: n.history,
		Parent: n.parent, Neighbours: n.neighbours, Link: n.link,
	}
	return nil
}

// Health returns the health of this node.
func (n *Node) Health(ctx context.Context) answer.Health { return n.health.Health(ctx) }
