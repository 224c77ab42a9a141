package history

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"

	"voltbus/fault"
	"voltbus/internal/datadir"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/store"
)

// MarkFile records the position of a node without a store in its log.
const MarkFile = "mark.json"

// Blocks is the log of a node. Package bus implements it.
type Blocks interface {
	recorder.Scanner
	// ID identifies the log: a replacement has another one.
	ID() string
	Bounds(ctx context.Context) (first, last uint64, err error)
}

// Start is where a recorder continues.
type Start struct {
	Origin string // the origin of the directory's own blocks
	recorder.Start
	// Mark records the recorder's position in the log; nil if the store knows it.
	Mark func(recorder.Mark) error
}

// FindStart determines the origin of the data directory's blocks, and where the numbering of all origins continues:
// after what the store has, or the log, whichever is further. While the store is unavailable the log alone must suffice.
// node is the name of the node.
func (h *History) FindStart(ctx context.Context, blocks Blocks, node string) (Start, error) {
	dir := h.opts.Dir
	kept, err := datadir.Origin(dir)
	if err != nil {
		return Start{}, fault.E("node.Open", fault.Invalid, dir, err)
	}
	s := Start{Origin: cmp.Or(kept, node)}
	if s.Start, err = h.resume(ctx, blocks, s.Origin); err != nil {
		return Start{}, err
	}
	if kept == "" && s.Own.Sequence == 0 { // otherwise the directory dates from before origins had a unique suffix
		s.Origin = datadir.NewOrigin(node)
	}
	if err := datadir.KeepOrigin(dir, s.Origin); err != nil {
		return Start{}, fault.E("node.Open", fault.Unavailable, dir, err)
	}
	if h.store == nil {
		file, name := h.mark(), blocks.ID()
		s.Mark = func(m recorder.Mark) error {
			m.Log = name
			return file.Write(m)
		}
	}
	return s, h.Claim(ctx, s.Origin)
}

// mark stores the position of a node without a store in its log.
func (h *History) mark() recorder.MarkFile {
	return recorder.MarkFile(filepath.Join(h.opts.Dir, MarkFile))
}

// resume finds where the numbering of the origin and of all others continues.
func (h *History) resume(ctx context.Context, blocks Blocks, origin string) (recorder.Start, error) {
	if h.store == nil {
		mark, err := h.mark().Read()
		if err != nil {
			h.opts.Log.WarnContext(ctx, "the log is read from its beginning", slog.Any("err", err))
		}
		return recorder.Resume(ctx, blocks, blocks.ID(), mark, origin)
	}
	known, from, missing := h.stored(ctx, blocks, origin)
	if missing != nil && !Away(missing) {
		return recorder.Start{}, missing
	}
	start, err := recorder.FindStart(ctx, blocks, from, known, origin)
	switch {
	case err != nil:
		return recorder.Start{}, err
	case missing != nil && start.Own.Sequence == 0:
		return recorder.Start{}, missing // numbers already used must not be reused
	case missing != nil:
		h.opts.Log.WarnContext(ctx, "numbering goes on behind the log, since the store is away", slog.Uint64("sequence", start.Own.Sequence))
	}
	return start, nil
}

// stored returns the store's positions, and the sequence number of the log after which it has nothing.
func (h *History) stored(ctx context.Context, blocks Blocks, origin string) (known map[string]recorder.Position, from uint64, err error) {
	positions, err := h.Positions(ctx)
	if err != nil {
		return nil, 1, err
	}
	if positions, err = h.hereOnly(ctx, positions, origin); err != nil {
		return nil, 1, err
	}
	known = make(map[string]recorder.Position, len(positions))
	for origin, p := range positions {
		known[origin] = recorder.Position{Sequence: p.Sequence, Samples: p.Samples, Refused: p.Refused}
	}
	log, sequence, err := h.store.Cursor(ctx)
	if err != nil {
		return nil, 1, err
	}
	_, last, err := blocks.Bounds(ctx)
	if err != nil {
		return nil, 1, err
	}
	if log != blocks.ID() || sequence > last { // the log was replaced
		return known, 1, nil
	}
	return known, sequence + 1, nil
}

// hereOnly returns how far this node's log has the origins known to the store. Other nodes may have stored more of
// them in a database; for the node's own origins all of that counts, since no number may be used twice.
func (h *History) hereOnly(ctx context.Context, stored map[string]store.Position, own string) (map[string]store.Position, error) {
	if h.database == nil {
		return stored, nil
	}
	ways, err := h.database.Ways(ctx)
	if err != nil {
		return nil, err
	}
	for _, origin := range []string{own, point.UrgentOrigin(own)} {
		if p, ok := stored[origin]; ok {
			ways[origin] = p
		}
	}
	return ways, nil
}
