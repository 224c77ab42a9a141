// Package history is the store of this node: it opens the configured engine, maintains it, and reports how far each origin is stored,
// even while the store is unavailable.
package history

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/duckdb/statement"
	"voltbus/store/memory"
	"voltbus/store/postgres"
	"voltbus/uplink"
)

// The configurable engines other than that of files.
const (
	EngineNone     = "none"
	EnginePostgres = "postgres"
	EngineMemory   = "memory" // gone with the process
)

// DatabaseOptions are those of EnginePostgres.
type DatabaseOptions = postgres.Options

// Options configure the store of a node.
type Options struct {
	Engine    string // EngineNone, EnginePostgres, EngineMemory; any other is the engine of files
	Dir       string // folder of the files
	Memory    int64  // bytes that the engine of files may use
	Retention store.Retention
	// Statement returns the command for the process of an SQL statement, see duckdb.Options.
	Statement func(read []string, write string) []string
	Database  DatabaseOptions // of EnginePostgres
	Log       *slog.Logger
}

// Store is a store as a node uses it.
type Store interface {
	store.Store
	store.SQL
}

// History is the store of a node. It is safe for concurrent use once it is open.
type History struct {
	opts     Options
	opening  *opening        // nil once it is open
	store    Store           // nil for a node without one
	database *postgres.Store // the store, if it is a database

	beside atomic.Value // a statement.Source

	following *following // the logs of other replicas; nil for a node alone

	mu    sync.Mutex
	known map[string]store.Position // the store's last answer, for use while it is unavailable
}

// opening is a store being opened concurrently with other parts, which take as long if there are many points.
type opening struct {
	done  chan struct{} // closed when the rest is set
	store *duckdb.Store
	err   error
}

// Begin begins to open the store, if it is that of files. Open or Close finishes this.
func Begin(ctx context.Context, o Options) *History {
	h := &History{opts: o}
	if o.Engine == EngineNone || o.Engine == EnginePostgres || o.Engine == EngineMemory {
		return h
	}
	begun := &opening{done: make(chan struct{})}
	go func() {
		defer close(begun.done)
		begun.store, begun.err = duckdb.Open(ctx, duckdb.Options{
			Dir: filepath.Join(o.Dir, "store"), MemoryLimit: o.Memory, Log: o.Log, Statement: o.Statement, Beside: h.other, Retention: o.Retention,
		})
	}()
	h.opening = begun
	return h
}

// Beside has statements in SQL read the views of another store, too.
func (h *History) Beside(s statement.Source) { h.beside.Store(s) }

func (h *History) other() statement.Source {
	s, _ := h.beside.Load().(statement.Source)
	return s
}

// Open opens the store, or waits until it is.
func (h *History) Open(ctx context.Context) error {
	if h.opts.Engine == EngineMemory {
		h.store = forgetful{memory.New(memory.Options{Retention: h.opts.Retention})}
		return nil
	}
	if h.opts.Engine != EnginePostgres {
		return h.take()
	}
	st, err := postgres.Open(ctx, h.opts.Database)
	if err != nil {
		return err
	}
	h.store, h.database = st, st
	return nil
}

// take waits for a store that is being opened.
func (h *History) take() error {
	o := h.opening
	if o == nil {
		return nil
	}
	h.opening = nil
	<-o.done
	if o.err == nil {
		h.store = o.store
	}
	return o.err
}

// Close closes the store. Close on a nil History does nothing.
func (h *History) Close() error {
	if h == nil {
		return nil
	}
	if err := h.take(); err != nil || h.store == nil { // opening had begun, but another part could not be opened
		return err
	}
	return h.store.Close()
}

// Store returns the store; nil for a node without one.
func (h *History) Store() Store { return h.store }

// Kept returns the store, or for a node without one a store that stays empty.
func (h *History) Kept() store.Store {
	if h.store == nil {
		return memory.New(memory.Options{})
	}
	return h.store
}

// Database returns the store if other nodes may store in it, too; nil otherwise.
func (h *History) Database() *postgres.Store { return h.database }

// Name returns the name of the database in which this node stores, as in uplink.Welcome; "" for none.
func (h *History) Name() string {
	switch {
	case h.database == nil:
		return ""
	case h.database.ID() == "":
		return uplink.UnknownStore
	}
	return h.database.ID()
}

// Claim keeps other nodes from storing this node's own origins in the database: so a copy of the data directory is refused.
func (h *History) Claim(ctx context.Context, origin string) error {
	if h.database == nil {
		return nil
	}
	return h.database.Own(ctx, origin, point.UrgentOrigin(origin))
}

// Positions returns how far the store has each origin. After an error these are the store's last known positions.
func (h *History) Positions(ctx context.Context) (map[string]store.Position, error) {
	positions, err := h.store.Positions(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		return maps.Clone(h.known), err
	}
	h.known = maps.Clone(positions)
	return positions, nil
}

// Away reports whether an error comes from a store that is temporarily unavailable.
func Away(err error) bool {
	return fault.Is(err, fault.Unreachable) || fault.Is(err, fault.Unavailable)
}

// Intervals of the maintenance.
const (
	upkeepEvery = time.Minute    // close days, drop data that is too old
	scrubEvery  = 24 * time.Hour // read everything to find damage
)

// scrubber is a store that detects damage itself. A database server takes care of its own.
type scrubber interface {
	// Scrub reads all stored data, and sets damaged parts aside.
	Scrub(ctx context.Context) error
}

// Run stores the logs of other replicas, if there are any, and lets the store do its upkeep until ctx ends.
func (h *History) Run(ctx context.Context) error {
	var others sync.WaitGroup
	defer others.Wait()
	others.Go(func() { h.following.run(ctx) })
	return h.upkeep(ctx)
}

// upkeep lets the store do its upkeep until ctx ends. It looks for damage first when the node has run for a minute, so that
// a start is not slowed.
func (h *History) upkeep(ctx context.Context) error {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	scrubbed := time.Time{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := h.store.Maintain(ctx, time.Now())
		if sc, ok := h.store.(scrubber); ok && err == nil && time.Since(scrubbed) >= scrubEvery {
			scrubbed = time.Now()
			err = sc.Scrub(ctx)
		}
		if err == nil {
			_, err = h.Positions(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.opts.Log.WarnContext(ctx, "store upkeep failed and is tried again", slog.Any("err", err))
		}
	}
}
