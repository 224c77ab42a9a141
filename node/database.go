package node

import (
	"context"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres"
	"voltbus/uplink"
)

func (n *Node) openDatabase(ctx context.Context, retention store.Retention) error {
	cfg := n.opts.Config.Store
	st, err := postgres.Open(ctx, postgres.Options{
		URL: cfg.URL, PasswordFile: cfg.PasswordFile, Schema: cfg.Schema, Writer: n.opts.Config.Node.Name,
		TLS:     postgres.TLS{Off: cfg.TLS.Mode == "off", CA: cfg.TLS.CA, Cert: cfg.TLS.Certificate, Key: cfg.TLS.Key},
		Patient: true, Retention: retention, Log: n.log,
	})
	if err != nil {
		return err
	}
	n.store, n.database = st, st
	return nil
}

// storeName names the database that this node stores into, as uplink.Welcome does.
func (n *Node) storeName() string {
	switch {
	case n.database == nil:
		return ""
	case n.database.ID() == "":
		return uplink.UnknownStore
	}
	return n.database.ID()
}

// claimOrigin keeps other nodes from storing this node's own origins in the database: a copy of the
// data directory is refused.
func (n *Node) claimOrigin(ctx context.Context) error {
	if n.database == nil {
		return nil
	}
	return n.database.Own(ctx, n.origin, point.UrgentOrigin(n.origin))
}

// hereOnly returns how far this node's log has the origins that the store knows. Other nodes may have stored
// more of them in a database; of the own ones all counts, since no number may be used twice.
func (n *Node) hereOnly(ctx context.Context, stored map[string]store.Position) (map[string]store.Position, error) {
	if n.database == nil {
		return stored, nil
	}
	ways, err := n.database.Ways(ctx)
	if err != nil {
		return nil, err
	}
	for _, origin := range []string{n.origin, point.UrgentOrigin(n.origin)} {
		if p, ok := stored[origin]; ok {
			ways[origin] = p
		}
	}
	return ways, nil
}

// watchDatabase puts points that other nodes store in the database into the catalogue.
func (n *Node) watchDatabase(ctx context.Context) error {
	return n.database.Watch(ctx, func(paths []point.Path) error { return n.adopt(ctx, paths) })
}

// adopt puts points into the catalogue that it does not know. What it knows stays as it is, also what was
// removed. The kind is that of the newest sample.
func (n *Node) adopt(ctx context.Context, paths []point.Path) error {
	entries, err := n.catalog.Entries(ctx, paths)
	if err != nil {
		return err
	}
	var unknown []point.Path
	for i := range entries {
		if entries[i].FirstSeen.IsZero() {
			unknown = append(unknown, entries[i].Path)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	newest, err := n.store.Latest(ctx, unknown)
	if err != nil {
		return fault.E("node.adopt", fault.KindOf(err), "", err)
	}
	infos := make([]point.Info, len(unknown))
	for i, p := range unknown {
		infos[i] = point.Info{Path: p, Kind: newest[i].Value.Kind()}
	}
	return n.catalog.Adopt(ctx, infos)
}
