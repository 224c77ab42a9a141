// Package cluster makes the brokers of several replicas one. What they have in common stands in one journal that all of them write and
// read in the same order: the states of persistent sessions, who owns each of them, retained messages, device accounts, and those messages
// with QoS 1 and 2 that a subscription at another replica matches. Filters and messages with QoS 0 go from replica to replica directly.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/fault"
)

// Mesh is what a replica has in common with the others, as package bus/mesh does.
type Mesh interface {
	Self() string
	Others() []string
	// Reached returns which others are reached now, and why nothing can be acknowledged here; nil if a majority is there.
	Reached() (names map[string]bool, trouble error)
	Serve(what string, handle func(from string, data []byte) []byte) error
	Tell(replica, what string, data []byte) error
	Ask(ctx context.Context, replica, what string, data []byte) ([]byte, error)
}

// Journal is a log that all replicas write, as package bus/blocklog does.
type Journal interface {
	// Add returns when a record is on the disks of a majority. After an error it may be there or not.
	Add(ctx context.Context, data []byte) error
	// Read delivers records from a sequence on until ctx ends; Scan until the last that is there.
	Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
	Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
	Bounds(ctx context.Context) (first, last uint64, err error)
}

// Host is the broker of this replica. Its methods take the broker's lock.
type Host interface {
	// Live hands over a message with QoS 0 of another replica.
	Live(m *Message)
	// Apply does what a record of the journal says. It does not wait.
	Apply(a *Applied)
	// Adopt adds sessions from their states, and Reroute hands messages to them that they missed meanwhile, those too that were for
	// members of shared subscriptions at a replica from which they come; "" for none.
	// Those without a state are there already. Done says that they have them all.
	Adopt(list []Adopted)
	Reroute(sequence uint64, e *Entry, from string)
	Done(sequence uint64)
	// Filters returns all filters that clients of this replica subscribe to.
	Filters() map[string]Members
	// Give ends the connection of a session that another replica takes over, and has its state written to the journal. It
	// reports whether there is such a session.
	Give(key, to string) bool
	// Mark has the journal say how far the sessions of this replica are, if they are that far.
	Mark()
	// Taken ends a session that is not kept beyond its connection, since its client connects to another replica. It reports whether
	// there is one that is kept.
	Taken(key string) bool
}

// Applied is a record of the journal as it concerns the broker.
type Applied struct {
	Sequence uint64
	Entry    *Entry
	Own      bool     // this broker wrote it
	Lost     []string // the keys of sessions that another replica owns from now on
}

// Adopted is a session that this replica owns from now on.
type Adopted struct {
	Key   string
	State []byte
	After uint64 // the place in the journal up to which the session has its messages
}

// Config is what a cluster is made from.
type Config struct {
	Mesh    Mesh
	Journal Journal
	Store   Store
	Devices Devices
	Now     func() time.Time
	Log     *slog.Logger
}

// Devices hears of accounts that were changed at any replica.
type Devices interface{ Apply(d Device) }

// Cluster is the part of a broker that deals with other replicas. Its methods are safe for concurrent use.
type Cluster struct {
	cfg   Config
	host  Host
	epoch uint64

	adding   chan struct{} // holds who writes an entry
	claiming chan struct{} // holds who writes claims, its own and those that wait
	number   uint64        // of the last one; guarded by adding
	trouble  atomic.Pointer[fault.Error]

	wanted   []Claim    // that wait to be written together; guarded by mu
	mu       sync.Mutex // may be taken with the broker's lock held, not the other way round
	routes   *routes
	sessions map[string]*owned // by key
	tails    map[string]tail   // by replica
	position uint64            // up to which the journal is applied
	changed  chan struct{}     // closed and replaced when something was applied
	refused  map[uint64][]string
	handled  uint64              // the number of the last own entry that was applied
	moving   map[string]struct{} // keys of sessions that this replica owns, but does not have yet
	tellAll  time.Time           // since when all filters are to be told anew; zero: they are not
	peers    map[string]*peer
	filters  map[string]Members // those of this replica, as they were announced
	version  uint64             // of filters

	dirty
	parts
}

// The parts of a cluster. They share its state and its lock.
type (
	reading    struct{ *Cluster } // what the journal says
	storing    struct{ *Cluster } // what is kept of it
	announcing struct{ *Cluster } // filters
	leading    struct{ *Cluster } // who owns what

	parts struct {
		reading    reading
		storing    storing
		announcing announcing
		leading    leading
	}
)

// owned is what is known of a persistent session.
type owned struct {
	owner  string
	at     uint64 // the place in the journal of its last change
	behind uint64 // up to where it has its messages if the owner has not written it yet; 0 if it has
}

// tail is what is known of a replica from its last entry.
type tail struct{ epoch, number, applied uint64 }

// before reports whether an entry is newer.
func (t tail) before(e *Entry) bool {
	return t.epoch < e.Epoch || t.epoch == e.Epoch && t.number < e.Number
}

// Open reads what is stored of the journal, and then the journal up to its end.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	c := &Cluster{
		cfg: cfg, epoch: uint64(cfg.Now().UnixNano()), routes: newRoutes(), sessions: map[string]*owned{}, tails: map[string]tail{},
		adding: make(chan struct{}, 1), claiming: make(chan struct{}, 1), changed: make(chan struct{}), moving: map[string]struct{}{}, refused: map[uint64][]string{}, peers: map[string]*peer{}, filters: map[string]Members{},
	}
	c.parts = parts{reading{c}, storing{c}, announcing{c}, leading{c}}
	c.dirty.init()
	if err := c.storing.load(ctx); err != nil {
		return nil, err
	}
	if err := c.storing.bridge(ctx); err != nil {
		return nil, err
	}
	err := cfg.Journal.Scan(ctx, c.position+1, func(sequence uint64, data []byte) error {
		c.reading.take(ctx, sequence, data)
		return nil
	})
	if err != nil {
		return nil, fault.E("cluster.Open", fault.Unavailable, cfg.Mesh.Self(), fmt.Errorf("read the journal of the brokers: %w", err))
	}
	c.announcing.meet()
	c.announcing.remember()
	return c, c.storing.flush(ctx)
}

// Begin hands the broker, which has its sessions, the messages that they missed while this replica was away, and lets others reach it.
func (c *Cluster) Begin(ctx context.Context, h Host) error {
	c.host = h
	c.reading.rejoin(ctx)
	c.filters, c.version = h.Filters(), 1
	mesh := c.cfg.Mesh
	return errors.Join(mesh.Serve("live", c.leading.live), mesh.Serve("filters", c.announcing.hear), mesh.Serve("give", func(from string, key []byte) []byte {
		if c.host.Give(string(key), from) {
			return []byte("yes")
		}
		return []byte("no")
	}), mesh.Serve("taken", func(_ string, key []byte) []byte {
		if c.host.Taken(string(key)) {
			return []byte("kept")
		}
		return []byte("no")
	}), mesh.Serve("page", c.storing.page))
}

// The pace of a cluster.
const (
	lookEvery  = 250 * time.Millisecond // at the other replicas
	flushEvery = 250 * time.Millisecond // of what was applied to the storage
	readAgain  = 250 * time.Millisecond
)

// Run applies what stands in the journal, and looks after the other replicas, until ctx ends.
func (c *Cluster) Run(ctx context.Context) error {
	var parts sync.WaitGroup
	parts.Go(func() { c.reading.follow(ctx) })
	parts.Go(func() { c.leading.look(ctx) })
	parts.Go(func() { c.storing.store(ctx) })
	parts.Wait()
	return c.storing.flush(context.WithoutCancel(ctx))
}

// follow applies the journal until ctx ends.
func (c reading) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.cfg.Journal.Read(ctx, c.leading.at()+1, func(sequence uint64, data []byte) error {
			c.reading.take(ctx, sequence, data)
			return nil
		})
		if err != nil && ctx.Err() == nil {
			c.cfg.Log.InfoContext(ctx, "the journal of the brokers is read again", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(readAgain):
		}
	}
}

// at returns up to where the journal is applied.
func (c leading) at() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.position
}

// Trouble says why nothing can be acknowledged here, nil if a majority of the replicas is there.
func (c *Cluster) Trouble() error {
	if e := c.trouble.Load(); e != nil {
		return e
	}
	return nil
}

// look finds out which replicas are there until ctx ends.
func (c leading) look(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		c.leading.lookOnce(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// goneAfter is how long a replica is not reached before another one takes over its sessions.
const goneAfter = 5 * time.Second

func (c leading) lookOnce(ctx context.Context) {
	reached, err := c.cfg.Mesh.Reached()
	e, _ := errors.AsType[*fault.Error](err)
	c.trouble.Store(e)
	c.announcing.meet()
	now := c.cfg.Now()
	var gone []string
	c.mu.Lock()
	first := true // of those who are reached: it takes over
	for name := range reached {
		first = first && c.cfg.Mesh.Self() < name
	}
	for name, p := range c.peers {
		if p.reached = reached[name]; p.reached || p.seen.IsZero() { // it had no time yet
			p.seen = now
		}
		if p.gone = now.Sub(p.seen) > goneAfter && !c.leading.owns(name); p.gone {
			p.heard = time.Time{}
		}
		if now.Sub(p.seen) > goneAfter && first && !p.gone {
			gone = append(gone, name)
		}
	}
	c.mu.Unlock()
	if err != nil {
		return
	}
	slices.Sort(gone)
	for _, name := range gone {
		c.leading.claim(ctx, Claim{From: name})
	}
	c.announcing.sync(ctx)
	c.leading.mark()
}

// unsure reports whether another replica may have filters that are not known here. The lock is held.
func (c leading) unsure() bool {
	now := c.cfg.Now()
	for _, p := range c.peers {
		if !p.gone && now.Sub(p.heard) > trustTime {
			return true
		}
	}
	return false
}

// owns reports whether a replica owns sessions, or is thought to have subscribers. The lock is held.
func (c leading) owns(replica string) bool {
	if c.routes.has(replica) {
		return true
	}
	for _, s := range c.sessions {
		if s.owner == replica {
			return true
		}
	}
	return false
}

// wait returns when done reports true, which it asks again whenever something was applied; an error when ctx ends. The lock is held
// while done is called.
func (c leading) wait(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		ok, changed := done(), c.changed
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
