package node

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"path/filepath"

	"voltbus/fault"
	"voltbus/internal/datadir"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
	"voltbus/store/duckdb"
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
		err = n.takeStore()
	}
	if err != nil {
		return err
	}
	n.sink = sink.New(sink.Config{Stored: n.opts.Stored, Leaves: point.IsMeterOrigin, Log: n.log}, n.blocks, n.store)
	return nil
}

// openingStore is a store that is opened beside other parts, which take as long where there are many points.
type openingStore struct {
	done  chan struct{} // closed when the rest is set
	store *duckdb.Store
	err   error
}

// beginStore begins to open the store of files, if that is the one; takeStore waits for it.
func (n *Node) beginStore(ctx context.Context) error {
	cfg := n.opts.Config.Store
	if cfg.Engine == "none" || cfg.Engine == "postgres" {
		return nil
	}
	o := &openingStore{done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.store, o.err = duckdb.Open(ctx, duckdb.Options{
			Dir: filepath.Join(n.opts.Config.Node.Data, "store"), MemoryLimit: int64(cfg.Memory), Log: n.log, Statement: n.opts.Statement,
			Retention: store.Retention{Age: cfg.Retention.Age, Bytes: int64(cfg.Retention.Bytes)},
		})
	}()
	n.opening = o
	return nil
}

// takeStore waits until the store that is being opened is, if any, and takes it.
func (n *Node) takeStore() error {
	o := n.opening
	if o == nil {
		return nil
	}
	n.opening = nil
	<-o.done
	if o.err == nil {
		n.store = o.store
	}
	return o.err
}

// findStart finds what this directory's blocks are called, and where the numbers of all origins go
// on: behind what the store has, or the log, if it is further. While the store is away the log
// alone must know.
func (n *Node) findStart(ctx context.Context) (recorder.Start, error) {
	dir, name := n.opts.Config.Node.Data, n.opts.Config.Node.Name
	kept, err := datadir.Origin(dir)
	if err != nil {
		return recorder.Start{}, fault.E("node.Open", fault.Invalid, dir, err)
	}
	n.origin = cmp.Or(kept, name)
	start, err := n.resume(ctx)
	if err != nil {
		return recorder.Start{}, err
	}
	if kept == "" && start.Own.Sequence == 0 { // else the directory is from before origins had a mark
		n.origin = datadir.NewOrigin(name)
	}
	if err := datadir.KeepOrigin(dir, n.origin); err != nil {
		return recorder.Start{}, fault.E("node.Open", fault.Unavailable, dir, err)
	}
	return start, n.claimOrigin(ctx)
}

// resume finds where the numbers of the origin and of all others go on.
func (n *Node) resume(ctx context.Context) (recorder.Start, error) {
	if n.store == nil {
		mark, err := n.mark().Read()
		if err != nil {
			n.log.WarnContext(ctx, "the log is read from its beginning", slog.Any("err", err))
		}
		return recorder.Resume(ctx, n.blocks, n.blocks.ID(), mark, n.origin)
	}
	known, from, missing := n.storeSide(ctx)
	if missing != nil && !away(missing) {
		return recorder.Start{}, missing
	}
	start, err := recorder.FindStart(ctx, n.blocks, from, known, n.origin)
	switch {
	case err != nil:
		return recorder.Start{}, err
	case missing != nil && start.Own.Sequence == 0:
		return recorder.Start{}, missing // numbers that were used already must not be given again
	case missing != nil:
		n.log.WarnContext(ctx, "numbering goes on behind the log, since the store is away", slog.Uint64("sequence", start.Own.Sequence))
	}
	return start, nil
}

// markFile remembers how far a node without a store was in its log.
const markFile = "mark.json"

// mark is where a node without a store keeps how far it was in its log.
func (n *Node) mark() recorder.MarkFile {
	return recorder.MarkFile(filepath.Join(n.opts.Config.Node.Data, markFile))
}

// keepMark returns what the recorder tells its place in the log to; nil if a store knows it.
func (n *Node) keepMark() func(recorder.Mark) error {
	if n.store != nil {
		return nil
	}
	file, name := n.mark(), n.blocks.ID()
	return func(m recorder.Mark) error {
		m.Log = name
		return file.Write(m)
	}
}

// storeSide returns the store's positions, and the sequence of the log from which on it has nothing.
func (n *Node) storeSide(ctx context.Context) (known map[string]recorder.Position, from uint64, err error) {
	positions, err := n.storePositions(ctx)
	if err != nil {
		return nil, 1, err
	}
	if positions, err = n.hereOnly(ctx, positions); err != nil {
		return nil, 1, err
	}
	known = make(map[string]recorder.Position, len(positions))
	for origin, p := range positions {
		known[origin] = recorder.Position{Sequence: p.Sequence, Samples: p.Samples, Refused: p.Refused}
	}
	log, sequence, err := n.store.Cursor(ctx)
	if err != nil {
		return nil, 1, err
	}
	_, last, err := n.blocks.Bounds(ctx)
	if err != nil {
		return nil, 1, err
	}
	if log != n.blocks.ID() || sequence > last { // another log in its place
		return known, 1, nil
	}
	return known, sequence + 1, nil
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
