// Package sender sends the blocks of a node's log to its parent. The parent acknowledges what it has on disk,
// and only then the log position advances: after an interruption, a crash of either side or a restore of the
// parent from a backup, blocks are sent again, and the parent recognises known ones by their numbers.
package sender

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
)

// Log is the log to send.
type Log interface {
	ID() string
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Read delivers blocks from a sequence number on, in order, until ctx ends.
	Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// Session is one connection to the parent. When it is lost, all calls fail, and it is redialled.
type Session interface {
	Hello(ctx context.Context, h uplink.Hello) (uplink.Welcome, error)
	// Positions returns how far the parent has the origins.
	Positions(ctx context.Context, origins []string) (map[string]uplink.Position, error)
	Describe(ctx context.Context, points []uplink.Description) error
	// Send sends a frame, in order for each lane. The frame may be modified afterwards.
	Send(lane uplink.Lane, frame []byte) error
	// Answers come in the order of the frames of a lane.
	Answers() <-chan uplink.Answer
	// Done is closed when the connection is lost; Err says why.
	Done() <-chan struct{}
	Err() error
	Close()
}

// Renewer is a Session that knows whether it ended because this node has changed its key, as it does after the
// first connection with a bundle. Such an end is not an error.
type Renewer interface{ Renewed() bool }

// Starter is a Session with more to do once the greeting has been exchanged.
type Starter interface{ Start(w *uplink.Welcome) }

// Config tells what is sent, and how. Zero values mean the defaults.
type Config struct {
	// Dial connects to the parent.
	Dial func(ctx context.Context) (Session, error)
	// Own returns how far the recorder of this node has its origins on disk.
	Own func() map[string]uplink.Position
	// Store names the database that this node stores into, as uplink.Welcome does. If it is also the parent's,
	// everything is sent unchanged, and Select and Rename do not apply; nil for none.
	Store func() string
	// Judged is the log as rules leave it, with the same identity and positions; nil for none. It does not apply to a shared database either.
	Judged Log
	// Released are readings that rules withheld and a person released; nil for none.
	Released Released
	// Describe returns all points of this node in the form of descriptions; nil describes none.
	Describe func(ctx context.Context) ([]uplink.Description, error)

	File    string          // stores what was acknowledged; "" keeps nothing across a restart
	Version string          // of the program, for people
	Select  []point.Pattern // points to send; empty for all
	Rename  []uplink.Rename // applied to the path of each point, the longest match; empty: points elsewhere are moved below the parent's prefix
	Rate    int64           // bytes per second, for both lanes together; 0 for no limit
	Age     time.Duration   // how long a sample of the normal lane may wait for others: default 200 ms
	Samples int             // samples in a frame: default 20,000
	// Gathers returns how much of an origin is collected instead, and for how long at most; false for the default. nil: the default for all.
	Gathers func(origin string) (Pace, bool)
	Window  int64 // bytes of a lane in flight: default 16 MiB
	// Patience is how long frames in flight may go unanswered before the connection is redialled: default 30
	// s.
	Patience time.Duration
	// Turned is called with nil when the parent has been greeted, and with the reason when it is lost afterwards.
	// Run calls it, and must not be blocked. The end of Run is not a loss; may be nil.
	Turned func(parent string, lost error)
	Log    *slog.Logger
}

// Pace is how much of an origin goes in one frame, and how long it may wait to fill.
type Pace struct {
	Samples int
	Age     time.Duration
}

// pace returns the pace of an origin.
func (c *Config) pace(origin string) Pace {
	if c.Gathers != nil {
		if p, is := c.Gathers(origin); is {
			return p
		}
	}
	return Pace{c.Samples, c.Age}
}

// Bounds of a lane besides its bytes, and retry intervals.
const (
	maxFlight    = 256 // frames of a lane in flight
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
	blockedPause = 30 * time.Second // before a refused origin is retried
	busyPause    = time.Second      // before a parent that accepts nothing now is tried again; doubles each time
	longestBusy  = 8 * time.Second  // maximum of busyPause
	mostBusy     = 10               // maximum count
	describeEach = 15 * time.Second // checks for changed descriptions
	keepEach     = 2 * time.Second  // interval of writing the file
)

func (c Config) withDefaults() Config {
	if c.Age == 0 {
		c.Age = 200 * time.Millisecond
	}
	if c.Samples == 0 {
		c.Samples = 20_000
	}
	if c.Window == 0 {
		c.Window = 16 << 20
	}
	if c.Patience == 0 {
		c.Patience = 30 * time.Second
	}
	if c.Own == nil {
		c.Own = func() map[string]uplink.Position { return nil }
	}
	if c.Store == nil {
		c.Store = func() string { return "" }
	}
	if c.Turned == nil {
		c.Turned = func(string, error) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Sender is one node's connection to its parent. Status may be called at any time.
type Sender struct {
	cfg        Config
	log        Log
	limit      *limit
	monitor    *monitor
	checkpoint *checkpoint
	redial     chan struct{} // holds one entry when the parent may have changed
}

// New returns a sender. It reads the file; an unreadable file counts as absent: the log is then read from its
// beginning, and the parent reports what it has.
func New(cfg Config, log Log) *Sender {
	cfg = cfg.withDefaults()
	return &Sender{
		cfg: cfg, log: log, limit: &limit{rate: cfg.Rate}, monitor: newMonitor(cfg.Log), checkpoint: newCheckpoint(cfg.File, cfg.Log),
		redial: make(chan struct{}, 1),
	}
}

// Redial ends the session, if there is one, and dials at once.
func (s *Sender) Redial() {
	select {
	case s.redial <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends, and returns nil. Failures are shown in Status and retried.
func (s *Sender) Run(ctx context.Context) error {
	var keeping sync.WaitGroup
	keeping.Go(func() { s.checkpoint.keep(ctx) })
	defer keeping.Wait()
	wait := firstPause
	for ctx.Err() == nil {
		began, before := time.Now(), s.monitor.progress()
		err := s.connect(ctx)
		if ctx.Err() != nil {
			break
		}
		if time.Since(began) > longestPause || s.monitor.progress() != before {
			wait = firstPause // even on a flapping link: each connection that makes progress is worth it
		}
		s.monitor.report(err)
		if errors.Is(err, errRedial) {
			wait = firstPause
			continue
		}
		if s.pause(ctx, wait/2+rand.N(wait)) { //nolint:gosec // jitter
			wait = firstPause
		}
		wait = min(2*wait, longestPause)
	}
	return nil
}

// pause waits; true if asked to dial at once.
func (s *Sender) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.redial:
		return true
	}
	return false
}

var (
	errRedial  = errors.New("the connection to the parent is made anew")
	errRenewed = errors.New("this node has a new key, and the parent refuses the old one")
)

// connect runs one session with the parent, and returns why it ended.
func (s *Sender) connect(ctx context.Context) error {
	session, err := s.cfg.Dial(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	asked := time.Now()
	hello := uplink.Hello{Protocol: uplink.Protocol, Version: s.cfg.Version, Time: asked, Origins: s.known()}
	welcome, err := session.Hello(ctx, hello)
	if err != nil {
		return err
	}
	shared, err := s.judge(&welcome)
	if err != nil {
		return err
	}
	s.monitor.greeted(&welcome, asked, shared)
	if more, is := session.(Starter); is {
		more.Start(&welcome)
	}
	s.cfg.Turned(welcome.Name, nil)
	err = s.serve(ctx, session, &welcome, shared)
	if r, is := session.(Renewer); is && r.Renewed() {
		err = errRenewed
	}
	if ctx.Err() == nil {
		s.cfg.Turned(welcome.Name, err)
	}
	return err
}

// known returns the positions for the greeting: for this node's own origins everything on disk, for others
// what the parent acknowledged.
func (s *Sender) known() map[string]uplink.Position {
	origins := s.checkpoint.origins()
	maps.Copy(origins, s.cfg.Own())
	return origins
}

// judge refuses a parent whose version is not understood, or that has more than was ever recorded here. It reports
// whether this node stores into the same database.
func (s *Sender) judge(w *uplink.Welcome) (shared bool, err error) {
	const op = "sender.Run"
	if err := uplink.Understand(w.Protocol, cmp.Or(w.Name, "the parent"), "this node"); err != nil {
		return false, err
	}
	if shared, err = s.shares(w); err != nil {
		return false, err
	}
	for origin, own := range s.cfg.Own() {
		if p := w.Positions[origin]; p.Sequence > own.Sequence {
			return false, fault.E(op, fault.Conflict, origin, fmt.Errorf(
				"the parent has blocks up to %d and this node only made %d: the data directory was copied, or put back from a backup. "+
					"Stop the node, remove the file origin from its data directory, and start it again: it goes on under a new origin", p.Sequence, own.Sequence))
		}
	}
	return shared, nil
}

var errStore = errors.New("this node and its parent store in databases, of which one did not answer yet: if it is the same database, " +
	"points must go up under the names that they have here; the parent is asked again when the database answers")

// shares reports whether this node stores into the same database as its parent.
func (s *Sender) shares(w *uplink.Welcome) (bool, error) {
	own := s.cfg.Store()
	if own == "" || w.Store == "" {
		return false, nil
	}
	if own == uplink.UnknownStore || w.Store == uplink.UnknownStore {
		return false, fault.E("sender.Run", fault.Unavailable, w.Name, errStore)
	}
	return own == w.Store, nil
}

// serve runs the lanes until something ends the session.
func (s *Sender) serve(ctx context.Context, session Session, w *uplink.Welcome, shared bool) error {
	_, last, err := s.log.Bounds(ctx)
	if err != nil {
		return fmt.Errorf("read the log's bounds: %w", err)
	}
	group, ctx := errgroup.WithContext(ctx)
	paths := newPaths(s.cfg.Select, uplink.Naming{Renames: s.cfg.Rename, Prefix: w.Prefix})
	if shared { // either node may store a block, so both have the same
		paths = newPaths(nil, uplink.Naming{})
	}
	lanes := map[uplink.Lane]*lane{}
	for _, name := range []uplink.Lane{uplink.Urgent, uplink.Normal} {
		place, gained := s.checkpoint.begin(name, extent{s.log.ID(), last}, w.Positions)
		s.monitor.gain(gained)
		l := s.newLane(name, session, w)
		l.place, l.paths = place, paths.clone()
		if s.cfg.Judged != nil && !shared {
			l.log = s.cfg.Judged
		}
		lanes[name] = l
		group.Go(func() error { return l.run(ctx) })
	}
	if s.cfg.Released != nil {
		l := s.newLane(released, session, w)
		l.paths = paths.clone()
		lanes[released] = l
		group.Go(func() error { return l.run(ctx) })
	}
	group.Go(func() error { return route(ctx, session, lanes) })
	group.Go(func() error {
		select {
		case <-s.redial:
			return errRedial
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if s.cfg.Describe != nil {
		d := &describer{points: s.cfg.Describe, log: s.cfg.Log, session: session, names: paths, reported: map[point.Path]uint64{}}
		group.Go(func() error { return d.run(ctx) })
	}
	return group.Wait()
}

// route passes the answers to the lanes of their origins.
func route(ctx context.Context, session Session, lanes map[uplink.Lane]*lane) error {
	for {
		select {
		case a := <-session.Answers():
			select {
			case laneOf(lanes, a.Origin).answers <- a:
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-session.Done():
			return session.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
