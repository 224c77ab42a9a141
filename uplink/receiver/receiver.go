// Package receiver records the blocks of a node's children in its log: in order per child and lane, different lanes concurrently. A block
// is answered when it is on disk. The log and the store tell which blocks exist, so that each is in the log once, whatever is interrupted
// or killed.
package receiver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
)

// Recorder is the destination of blocks.
type Recorder interface {
	// Forward appends the encoded block of another origin to the log, in the order of the calls. The function
	// that it returns waits until the block is on disk; it may be called again after its context has ended.
	Forward(ctx context.Context, b *point.Block, data []byte) (wait func(context.Context) error, err error)
	// Paused returns why nothing is recorded now; nil in normal operation.
	Paused() error
}

// Child is what a child may do here.
type Child struct {
	Prefix point.Path
	Grants identity.Grants
}

// Refusal is a block that was refused because its child may not send it.
type Refusal struct {
	Child, Origin string
	Missing       string // the missing capability; "" for another reason
	Err           error
}

// Config tells whose blocks are accepted. Zero values mean the defaults.
type Config struct {
	Name string // of this node
	// Child returns what an approved child may do; false for any other.
	Child func(name string) (Child, bool)
	// Know is called with the points for which a child sends readings, and fails with fault.Refused if there is no room for
	// all of them; nil accepts any. The paths are valid.
	Know func(ctx context.Context, child string, paths []point.Path) error
	// Meter checks a block of meter readings, for which Know is not called, and fails with fault.Refused if there is no room for
	// it; from tells the origins that come through the same child. nil accepts any.
	Meter func(b *point.Block, from func(origin string) bool) error
	// Own reports whether an origin is one of this node's own.
	Own func(origin string) bool
	// Refused is called with refusals, once for each reason; may be nil. It must return soon.
	Refused func(Refusal)
	// File records through which child the blocks of each origin come; "" keeps nothing across a restart.
	File string
	// Outages keeps the outages of children across a restart; nil keeps none.
	Outages Keeper
	// Origins is the maximum number of origins from which a child may send: default 20,000, two lanes of as
	// many nodes as there may be below one.
	Origins int
	// Store names the database that this node stores into: see uplink.Welcome; nil for none.
	Store  func() string
	Window int64 // bytes of a child's lane that may be queued here: default 16 MiB; beyond twice that, frames are dropped
	Log    *slog.Logger
}

// Receiver accepts blocks. Its methods are safe for concurrent use.
type Receiver struct {
	cfg      Config
	recorder Recorder
	register register

	mu      sync.Mutex
	origins map[string]*origin
	owners  map[string]string // origin → child
	fresh   map[string]string // those not in the register yet
	owned   map[string]int    // child → its origins
	lanes   map[laneKey]*lane
	counts  map[string]*Counts // by child
	outages *chronicle
	ctx     context.Context //nolint:containedctx // of Run; nil while it does not run
	working sync.WaitGroup
}

// origin is how far an origin has come.
type origin struct {
	taken  uplink.Position // passed to the recorder
	landed uplink.Position // on disk
	kept   uplink.Position // on disk, with its child recorded: acknowledged
}

type laneKey struct {
	child string
	lane  uplink.Lane
}

const (
	window     = 16 << 20
	maxOrigins = 20_000
	noteEvery  = 5 * time.Second // interval of storing outages
)

// New returns a receiver that continues after positions: what log and store have of all origins.
func New(cfg Config, recorder Recorder, positions map[string]uplink.Position) *Receiver {
	if cfg.Window == 0 {
		cfg.Window = window
	}
	if cfg.Origins == 0 {
		cfg.Origins = maxOrigins
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Store == nil {
		cfg.Store = func() string { return "" }
	}
	if cfg.Know == nil {
		cfg.Know = func(context.Context, string, []point.Path) error { return nil }
	}
	if cfg.Meter == nil {
		cfg.Meter = func(*point.Block, func(string) bool) error { return nil }
	}
	if cfg.Refused == nil {
		cfg.Refused = func(Refusal) {}
	}
	r := &Receiver{
		cfg: cfg, recorder: recorder, origins: map[string]*origin{}, lanes: map[laneKey]*lane{}, counts: map[string]*Counts{},
		register: register{file: cfg.File}, fresh: map[string]string{}, owned: map[string]int{}, outages: remember(cfg.Outages, cfg.Log),
	}
	r.owners = r.register.recall(cfg.Log)
	for _, child := range r.owners {
		r.owned[child]++
	}
	for name, p := range positions {
		r.origins[name] = &origin{taken: p, landed: p, kept: p}
	}
	return r
}

// Run accepts blocks until ctx ends, and returns nil when all work in progress has ended.
func (r *Receiver) Run(ctx context.Context) error {
	r.mu.Lock()
	r.ctx = ctx
	r.mu.Unlock()
	note := time.NewTicker(noteEvery)
	defer note.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-note.C:
			r.writeOutages(false)
		}
	}
	r.mu.Lock()
	r.ctx = nil
	r.mu.Unlock()
	r.working.Wait()
	r.writeOutages(true)
	return nil
}

var (
	errNoChild = errors.New("is no child of this node, or not approved")
	errIdle    = errors.New("takes no blocks at the moment: it is starting or stopping; ask again in a moment")
)

// Hello answers a child's greeting; fault.Refused if it is not a child, fault.Invalid if its version is not
// understood, fault.Unavailable while Run is not running: frames are then not answered.
func (r *Receiver) Hello(child string, h *uplink.Hello) (uplink.Welcome, error) {
	const op = "receiver.Hello"
	c, known := r.cfg.Child(child)
	if !known {
		return uplink.Welcome{}, fault.E(op, fault.Refused, child, errNoChild)
	}
	if err := uplink.Understand(h.Protocol, child, r.cfg.Name); err != nil {
		return uplink.Welcome{}, err
	}
	if !r.runs() {
		return uplink.Welcome{}, fault.E(op, fault.Unavailable, r.cfg.Name, errIdle)
	}
	names := make([]string, 0, len(h.Origins))
	for name := range h.Origins {
		names = append(names, name)
	}
	r.greet(child, h)
	return uplink.Welcome{
		Protocol: uplink.Protocol, Name: r.cfg.Name, Prefix: c.Prefix, Time: time.Now(),
		Positions: r.Positions(names), Window: r.cfg.Window, Parts: true, Store: r.cfg.Store(),
	}, nil
}

// runs reports whether blocks are accepted.
func (r *Receiver) runs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ctx != nil && r.ctx.Err() == nil
}

// Positions returns how far origins are on disk; the zero Position for unknown ones.
func (r *Receiver) Positions(names []string) map[string]uplink.Position {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]uplink.Position, len(names))
	for _, name := range names {
		out[name] = r.stands(name).kept
	}
	return out
}

// Receive accepts a frame of a child's lane, and returns at once. respond is called with the outcome later,
// from another goroutine; not if the frame was dropped because too much is queued. The frames of a lane must
// come in order. The receiver takes ownership of data.
func (r *Receiver) Receive(child string, name uplink.Lane, data []byte, respond func(uplink.Answer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx == nil || r.ctx.Err() != nil {
		return // the sender keeps unanswered frames
	}
	key := laneKey{child, name}
	l := r.lanes[key]
	if l == nil {
		l = &lane{Receiver: r, child: child, name: name, refused: map[string]error{}, said: map[string]string{}, moved: sync.NewCond(&r.mu)}
		r.lanes[key] = l
	}
	if l.octets+int64(len(data)) > 2*r.cfg.Window {
		r.count(child).Dropped++
		return // the next accepted one reveals that one is missing
	}
	l.octets += int64(len(data))
	l.waiting = append(l.waiting, arrival{data, respond})
	l.moved.Signal()
	if !l.busy {
		l.busy = true
		ctx := r.ctx
		r.working.Go(func() { l.work(ctx) })
	}
}

// stands returns how far an origin has come, possibly nowhere: a name alone is not stored, since a child may
// invent as many as it likes. The caller holds mu.
func (r *Receiver) stands(name string) origin {
	if o := r.origins[name]; o != nil {
		return *o
	}
	return origin{}
}

// position returns the state of an origin of which a block is accepted. The caller holds mu.
func (r *Receiver) position(name string) *origin {
	o := r.origins[name]
	if o == nil {
		o = new(origin)
		r.origins[name] = o
	}
	return o
}

var (
	errOwn     = errors.New("are this node's own blocks, which came back to it: one of the nodes between is its child and its parent at once, or its data directory was copied")
	errMoved   = errors.New("comes by way of another child")
	errForked  = errors.New("its count of samples does not continue what is here: its data directory was copied, or put back from a backup")
	errNotLane = errors.New("the block came by the wrong lane")
)

// errOrigins says that a child sends from too many origins.
const errOrigins = "%s sent from %d origins already, and no more are taken from it: does its data directory get lost again and again, " +
	"or does it invent them? If all is right, stop this node, remove origins.json from its data directory and start it: those that still send are learned anew"

// owns admits the blocks of an origin through one child only: through another one they could displace those
// still to come. An origin that has moved is admitted once its old child is removed.
func (r *Receiver) owns(child, name string) error {
	const op = "receiver.Receive"
	if r.cfg.Own(name) {
		return fault.E(op, fault.Conflict, name, errOwn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	owner, known := r.owners[name]
	if known && owner == child {
		return nil
	}
	if known {
		if _, still := r.cfg.Child(owner); still {
			return fault.E(op, fault.Conflict, name, fmt.Errorf("%w, %s; if it moved, remove that child or let it leave", errMoved, owner))
		}
	}
	if r.owned[child] >= r.cfg.Origins {
		return fault.E(op, fault.Refused, name, fmt.Errorf(errOrigins, child, r.cfg.Origins))
	}
	r.own(child, name)
	return nil
}
