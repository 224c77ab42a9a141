package node

import (
	"context"

	"voltbus/history"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/store"
)

// beginStore begins to open the store, which with many points takes as long as opening the other parts.
func beginStore(ctx context.Context, n *Node) error {
	cfg := n.opts.Config.Store
	retention := store.Retention{Age: cfg.Retention.Age, Bytes: int64(cfg.Retention.Bytes)}
	n.history = history.Begin(ctx, history.Options{
		Engine: cfg.Engine, Dir: n.opts.Config.Node.Data, Memory: int64(cfg.Memory), Retention: retention, Statement: n.opts.Statement,
		Database: history.DatabaseOptions{
			URL: cfg.URL, PasswordFile: cfg.PasswordFile, Schema: cfg.Schema, Writer: n.opts.Config.Node.Name,
			TLS:     cfg.TLS,
			Patient: true, Retention: retention, Log: n.log,
		},
		Log: n.log,
	})
	return nil
}

func openStore(ctx context.Context, n *Node) error {
	err := n.history.Open(ctx)
	if err == nil {
		err = n.history.Follow(n.bus.Replicas(), func(replica string) (sink.Log, error) { return n.bus.LogOf(replica) }, n.catalog)
	}
	if kept := n.history.Store(); err == nil && kept != nil {
		n.sink = sink.New(sink.Config{Stored: n.opts.Stored, Leaves: point.IsMeterOrigin, Log: n.log}, n.blocks, kept)
	}
	return err
}
