package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/postgres"
	"voltbus/wire"
)

func (n *Node) openStore(ctx context.Context) error {
	cfg := n.opts.Config.Store
	retention := store.Retention{Age: cfg.Retention.Age, Bytes: int64(cfg.Retention.Bytes)}
	var err error
	switch cfg.Engine {
	case "none":
		return nil
	case "postgres":
		err = n.openDatabase(ctx, retention)
	default:
		var st *duckdb.Store
		if st, err = duckdb.Open(ctx, duckdb.Options{
			Dir: filepath.Join(n.opts.Config.Node.Data, "store"), MemoryLimit: int64(cfg.Memory), Log: n.log, Retention: retention,
		}); err == nil {
			n.store = st
		}
	}
	if err != nil {
		return err
	}
	n.sink = sink.New(sink.Config{Log: n.log}, n.blocks, n.store)
	return nil
}

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
	n.store = st
	return nil
}

// lastBlock finds where this origin's numbering goes on: behind the last block of the log, or
// what the store has, if the log was lost. While the store is away the log alone must know.
func (n *Node) lastBlock(ctx context.Context) (recorder.Start, error) {
	var start recorder.Start
	var missing error
	own := n.opts.Config.Node.Name
	if n.store != nil {
		positions, err := n.storePositions(ctx)
		if err != nil && !away(err) {
			return start, err
		}
		missing = err
		p := positions[own]
		start = recorder.Start{Sequence: p.Sequence, Samples: p.Samples, Refused: p.Refused}
	}
	data, _, err := n.blocks.Last(ctx)
	if err != nil {
		return start, err
	}
	var b point.Block
	if data != nil {
		if err := new(wire.Decoder).DecodeBlock(data, &b); err != nil {
			return start, fmt.Errorf("the last block of the log: %w", err)
		}
	}
	if missing != nil {
		if b.Origin != own {
			return start, missing // numbers that were used already must not be given again
		}
		n.log.WarnContext(ctx, "numbering goes on behind the log, since the store is away", slog.Uint64("sequence", b.Sequence))
	}
	if b.Origin == own && b.Sequence > start.Sequence {
		start = recorder.Start{Sequence: b.Sequence, Samples: b.Before + uint64(b.Len()), Refused: b.Refused}
	}
	return start, nil
}

// away reports whether the error is of a store that will answer again.
func away(err error) bool {
	return fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Unavailable)
}

// storePositions returns the store's positions. With an error they are those it said last.
func (n *Node) storePositions(ctx context.Context) (map[string]store.Position, error) {
	positions, err := n.store.Positions(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		return maps.Clone(n.known), err
	}
	n.known = maps.Clone(positions)
	return positions, nil
}
