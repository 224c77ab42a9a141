package history

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/store"
)

// shared is the store that several logs go to. Its Append takes turns.
type shared struct {
	Store
	turn sync.Mutex
}

// Append implements store.Store.
func (s *shared) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.Store.Append(ctx, blocks)
}

// following stores the logs of other replicas.
type following struct {
	catalog *catalog.Catalog
	logOf   func(replica string) (sink.Log, error)

	mu    sync.Mutex
	known map[string]bool
	next  []*sink.Sink  // that do not run yet
	more  chan struct{} // says that there are some
}

// Follow makes Run store the logs of other replicas, each block once. It is called before anybody uses the store, and again with
// FollowAlso when there are more. A database that replicas share needs it not.
func (h *History) Follow(replicas []string, logOf func(replica string) (sink.Log, error), into *catalog.Catalog) error {
	if h.store == nil || h.database != nil || len(replicas) == 0 {
		return nil
	}
	h.store = &shared{Store: h.store}
	h.following = &following{catalog: into, logOf: logOf, known: map[string]bool{}, more: make(chan struct{}, 1)}
	return h.FollowAlso(replicas)
}

// FollowAlso makes Run store the logs of those replicas that it does not follow yet.
func (h *History) FollowAlso(replicas []string) error {
	f := h.following
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, name := range replicas {
		if f.known[name] {
			continue
		}
		log, err := f.logOf(name)
		if err != nil {
			return err
		}
		logger := h.opts.Log.With(slog.String("replica", name))
		t := &target{
			store: h.store, catalog: f.catalog, log: logger, known: map[point.Path]bool{},
			file: recorder.MarkFile(filepath.Join(h.opts.Dir, "replica-"+name+".json")),
		}
		f.known[name] = true
		f.next = append(f.next, sink.New(sink.Config{Leaves: point.IsMeterOrigin, Log: logger}, log, t))
	}
	select {
	case f.more <- struct{}{}:
	default:
	}
	return nil
}

// run stores the logs of the other replicas until ctx ends.
func (f *following) run(ctx context.Context) {
	if f == nil {
		return
	}
	var all sync.WaitGroup
	defer all.Wait()
	for {
		f.mu.Lock()
		next := f.next
		f.next = nil
		f.mu.Unlock()
		for _, one := range next {
			all.Go(func() { _ = one.Run(ctx) }) // returns nil
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			return
		}
	}
}

// target is the store as the place of another replica's log. The store keeps the place in the own log; what says
// which blocks of another log it has are its positions of their origins, committed with the samples. The file only says where
// in the log they are, and counts while the store has all that it had then.
type target struct {
	store   Store
	catalog *catalog.Catalog
	log     *slog.Logger
	file    recorder.MarkFile // keeps how far the log is stored, so that a start does not read all of it
	mark    recorder.Mark
	known   map[point.Path]bool // listed in the catalogue
}

// Cursor implements sink.Store.
func (t *target) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	mark, err := t.file.Read()
	if err != nil {
		t.log.WarnContext(ctx, "the log of another replica is read from its beginning", slog.Any("err", err))
		mark = recorder.Mark{}
	}
	positions, err := t.store.Positions(ctx)
	if err != nil {
		return "", 0, err
	}
	for origin, p := range mark.Positions {
		if positions[origin].Sequence < p.Sequence { // it is another store, or an older copy
			mark = recorder.Mark{}
			break
		}
	}
	if mark.Positions == nil {
		mark.Positions = map[string]recorder.Position{}
	}
	t.mark = mark
	return mark.Log, mark.Sequence, nil
}

// Append implements sink.Store.
func (t *target) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	if err := t.list(ctx, blocks); err != nil {
		return store.Result{}, err
	}
	last := blocks[len(blocks)-1]
	log := last.Log
	for _, b := range blocks {
		b.Log = "" // the cursor of the store is for the own log
	}
	result, err := t.store.Append(ctx, blocks)
	if err != nil {
		return result, err
	}
	t.mark.Log, t.mark.Sequence = log, last.LogSequence
	for _, b := range blocks {
		if b.Sequence > t.mark.Positions[b.Origin].Sequence {
			t.mark.Positions[b.Origin] = recorder.Position{Sequence: b.Sequence, Samples: b.End(), Refused: b.Refused}
		}
	}
	if err := t.file.Write(t.mark); err != nil {
		t.log.WarnContext(ctx, "place in the log of another replica is not noted, the next start reads more of it", slog.Any("err", err))
	}
	return result, nil
}

// list puts points into the catalogue that only another replica knew.
func (t *target) list(ctx context.Context, blocks []*point.Block) error {
	var paths []point.Path
	kinds := map[point.Path]point.Kind{}
	for _, b := range blocks {
		for i := range b.Len() {
			p := b.Points[b.Point[i]]
			if !t.known[p] {
				p = point.Path(strings.Clone(string(p)))
				t.known[p], kinds[p] = true, b.Kind[i]
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	err := t.adopt(ctx, paths, kinds)
	if err != nil {
		for _, p := range paths {
			delete(t.known, p)
		}
	}
	return err
}

func (t *target) adopt(ctx context.Context, paths []point.Path, kinds map[point.Path]point.Kind) error {
	entries, err := t.catalog.Entries(ctx, paths)
	if err != nil {
		return err
	}
	var fresh []point.Info
	for i := range entries {
		if entries[i].FirstSeen.IsZero() {
			fresh = append(fresh, point.Info{Path: entries[i].Path, Kind: kinds[entries[i].Path]})
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return t.catalog.Adopt(ctx, fresh)
}
