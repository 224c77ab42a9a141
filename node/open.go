package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"

	"voltbus/bus"
	"voltbus/bus/blocklog"
	"voltbus/bus/keyholder"
	"voltbus/catalog"
	"voltbus/config"
	"voltbus/control/dispatch"
	"voltbus/device"
	"voltbus/document"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/history/ledger"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
	"voltbus/ingest/admission"
	"voltbus/ingest/outlet"
	"voltbus/internal/datadir"
	"voltbus/internal/descriptor"
	"voltbus/owner"
	"voltbus/recorder"
	"voltbus/statefile"
)

// shareFiles shares the files that the process may open, before any part takes some.
func shareFiles(ctx context.Context, n *Node) error {
	limit, err := descriptor.Limit()
	if err != nil {
		return fault.E("node.Open", fault.Internal, "", err)
	}
	n.files = descriptor.Share(limit)
	if words := n.files.Warning(len(n.opts.Config.Devices)); words != "" && !n.opts.Idle {
		n.log.WarnContext(ctx, "few files may be open", slog.String("detail", words))
	}
	return nil
}

func openDirectory(_ context.Context, n *Node) error {
	dir := n.opts.Config.Node.Data
	claim, err := datadir.Take(dir)
	switch {
	case errors.Is(err, datadir.ErrInUse):
		return fault.E("node.Open", fault.Conflict, dir,
			fmt.Errorf("the data directory %w: stop that one, or give this node another directory in node.data", err))
	case err != nil:
		return fault.E("node.Open", fault.Unavailable, dir, fmt.Errorf(
			"%w: change its owner or permissions, or give this node another directory in node.data", err))
	}
	n.claim = claim
	n.room = datadir.NewFreeSpace(dir, uint64(n.opts.Config.Log.MinFree))
	return nil
}

// setAside moves damaged small files aside. A node opened only to inspect its data changes nothing.
func setAside(ctx context.Context, n *Node) (err error) {
	if !n.opts.Idle {
		n.damage, err = statefile.SetAside(ctx, n.opts.Config.Node.Data, now(), n.log)
	}
	return err
}

func openIdentity(ctx context.Context, n *Node) error {
	var err error
	if n.catalog, err = catalog.Open(ctx, n.opts.Config.Node.Data, now); err != nil {
		return err
	}
	n.docs = document.New(n.catalog, now, func(c document.Change) {
		notifyOfDocument(n.bus, n.log, c)
		n.monitor.Changed(c)
		n.schedules.Changed(c)
	})
	n.identity, err = identity.Open(ctx, identity.Options{
		Dir: n.opts.Config.Node.Data, Node: n.opts.Config.Node.Name, Accounts: n.catalog, Now: now,
		Names: certified(n.opts.Config.Listen), Looks: n.opts.Idle,
	})
	if err != nil {
		return err
	}
	n.agents, err = registry.OpenAgents(ctx, n.catalog, now)
	return err
}

// certified returns the names in the node's certificate besides those of loopback: those configured, and the machine's if anything listens beyond loopback.
func certified(l config.Listen) []string {
	names := slices.Clip(l.Names)
	for _, a := range []config.Address{l.HTTP, l.Bus, l.MQTTS} {
		host, _, err := net.SplitHostPort(string(a))
		if err != nil || host == "localhost" {
			continue
		}
		switch ip := net.ParseIP(host); {
		case ip == nil:
			return append(append(names, pki.LocalNames()...), host)
		case !ip.IsLoopback():
			return append(names, pki.LocalNames()...)
		}
	}
	return names
}

func openBus(ctx context.Context, n *Node) error {
	flood := n.opts.Config.Agents.Flood
	cl, data := &n.opts.Config.Cluster, n.opts.Config.Node.Data
	replicated, dir, err := bus.PrepareCluster(data, n.opts.Config.Node.Name, cl.Listen, cl.KeyFile, cl.Each)
	if err != nil {
		return err
	}
	admitted := &keyholder.Source{Agents: n.agents, Children: n.children, Members: n.catalog, Now: now, Log: n.log}
	n.bus, err = bus.Open(bus.Config{
		Name: n.opts.Config.Node.Name, Dir: dir, Cluster: replicated,
		Listen: string(n.opts.Config.Listen.Bus), TLS: n.identity.Certificates.ServerConfig(),
		Key: n.identity.Node, Admit: admitted.Of, Refused: n.report.Violation, Event: func(e bus.ConnectionEvent) { childLink(n.links, e) }, Log: n.log,
		Silence: n.opts.Config.Uplink.Silence * 3 / 2, Connections: n.files.Bus,
		Limits: bus.Limits{
			Messages: int64(flood.Messages), Bytes: int64(flood.Bytes), Subscriptions: flood.Subscriptions, Connections: flood.Connections,
		},
	})
	if err != nil {
		return err
	}
	n.rights = &keyholder.Changes{Bus: n.bus, Forget: func(agent string) { n.service.Forget(agent) }, Log: n.log}
	n.agents.Notify(n.rights.AgentChanged)
	n.children.Notify(func(c registry.ChildChange) { childChanged(n, c) })
	if n.leases, err = owner.OpenLeases(n.bus, n.opts.Idle); err != nil {
		return err
	}
	if n.leases != nil && cl.Witness(n.opts.Config.Node.Name) {
		n.leases.Drain(true)
	}
	n.blocks, err = n.bus.OpenLog(ctx, blocklog.Config{MaxBytes: int64(n.opts.Config.Log.MaxBytes)})
	return err
}

func openRecorder(ctx context.Context, n *Node) error {
	start, err := n.history.FindStart(ctx, n.blocks, n.opts.Config.Node.Name)
	if err != nil {
		return err
	}
	n.origin = start.Origin
	cfg := n.opts.Config.Recorder
	n.recorder = recorder.New(recorder.Config{
		Origin: n.origin, MaxAge: cfg.MaxAge, MaxSamples: cfg.MaxBlock, Queue: cfg.Queue, Urgent: n.opts.Config.Uplink.Urgent,
		Room: func() error { return checkSpace(n.room, n.opts.Config.Node.Data) }, Refuse: func() error { return n.replicas.Trouble() }, Log: n.log, Mark: start.Mark,
	}, n.blocks, start.Start)
	n.account = ledger.New(ledger.Options{
		Origin: n.origin, Blocks: n.blocks, Recorder: n.recorder, Sink: n.sink, History: n.history, Catalog: n.catalog,
	})
	n.admission = admission.New(n.catalog, n.recorder, n.opts.Config.Ingest.Points, dispatch.Prefix, dispatch.LevelPrefix)
	return nil
}

// checkSpace reports a disk with too little free space to record.
func checkSpace(free *datadir.FreeSpace, dir string) error {
	if err := free.Check(); err != nil {
		return fault.E("node.checkSpace", fault.Unavailable, dir, fmt.Errorf("recording is paused: %w", err))
	}
	return nil
}

func openFleet(ctx context.Context, n *Node) error {
	n.opts.Kinds = driver.Kept(n.opts.Kinds, identity.DriverSecrets(n.opts.Config.Node.Data))
	n.outlet = outlet.New(n.bus, n.recorder)
	n.fleet = device.New(n.outlet, n.log, device.Limits{})
	n.lines = owner.NewLines(n.fleet, n.leases)
	n.plant = &plant{
		kinds: n.opts.Kinds, lines: n.lines, catalog: n.catalog, log: n.log, config: n.opts.Config,
		allowed: func() {
			n.reviewer.Remote()
			n.liveUp.Review()
		},
	}
	if n.opts.Idle {
		return nil
	}
	return n.plant.start(ctx)
}
