package node

import (
	"cmp"
	"context"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/replication"
	"voltbus/verdict"
)

// openReplicas opens what a replica knows of the others; a node alone has none.
func openReplicas(_ context.Context, n *Node) error {
	if len(n.bus.Replicas()) == 0 || n.opts.Idle {
		return nil
	}
	members, err := bus.MembershipOf(n.bus, func() error { return n.history.FollowAlso(n.bus.Replicas()) })
	if err != nil {
		return err
	}
	stored := replication.Store{Name: replication.StoreNone}
	if n.history.Store() != nil {
		stored = replication.Store{Name: cmp.Or(n.history.Name(), replication.StoreFiles), Positions: n.history.Positions}
	}
	cfg := replication.Config{
		Self: n.opts.Config.Node.Name, Version: n.opts.Version.Version, Started: n.started, Look: n.bus.Cluster, Channel: n.bus.Channel(),
		Copies: func(ctx context.Context) (blocklog.Copies, error) { return blocklog.CopiesOf(ctx, n.blocks) }, Dir: n.opts.Config.Node.Data, Recorder: n.recorder, Store: stored, Now: now, Logger: n.log, Membership: members,
		Clients: func() int {
			if n.mqtt == nil {
				return 0
			}
			return n.mqtt.State().Connected
		},
	}
	if cfg.Witness = n.opts.Config.Cluster.Witness(cfg.Self); n.leases != nil && !cfg.Witness {
		cfg.Leases = n.leases
	}
	if n.mqtt != nil {
		cfg.MQTT = n.opts.Config.Cluster.MQTTAddress
		cfg.Broker = n.mqtt.Drain()
	}
	n.replicas = replication.New(cfg)
	return nil
}

// replicaFacts reports what is wrong with the replicas; nil for a node alone.
func replicaFacts(r *replication.Replicas) *verdict.Replicas {
	if r == nil {
		return nil
	}
	f := &verdict.Replicas{}
	f.Sentence, f.Since, f.Critical = r.Concern()
	return f
}
