package live

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/wire"
)

// Intervals of reconnecting.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
)

// Conn is a connection to the parent for live messages alone.
type Conn interface {
	Send(data []byte) error
	// Ended is closed when the connection is lost.
	Ended() <-chan struct{}
	Close()
}

// UpConfig is what an Up needs. All are required; functions must be safe for concurrent use.
type UpConfig struct {
	Tap    func() (Tap, error)    // opens a tap
	Rules  func() Rules           // what may go up, and under which name
	Hear   []point.Path           // places at the parent whose live messages this node receives
	Behind func(node string) bool // whether a node is this one or its descendant
	Rate   int64                  // bytes of messages sent up per second; 0 for no limit
	Turned func()                 // is called when the parent's wants have changed
	Below  func() []Withheld      // what descendants withhold, under this node's names
	Log    *slog.Logger
}

var errUnheard = errors.New("is nothing that this node subscribes to at its parent: list it in uplink.hear")

// Up is a node's end of the link to its parent. It is safe for concurrent use.
type Up struct {
	cfg    UpConfig
	counts Counts

	mu   sync.Mutex
	peer *peer // for the connection; nil without one
}

// NewUp returns an Up. It starts nothing.
func NewUp(cfg UpConfig) *Up { return &Up{cfg: cfg} } //nolint:gocritic // once a node

// Status returns the state of the link.
func (u *Up) Status() Status { return u.counts.Status() }

// Wanted returns the subjects that the parent wants from this node and its descendants, under this node's
// names. They may match more than the parent wants.
func (u *Up) Wanted() []string {
	p := u.now()
	if p == nil {
		return nil
	}
	theirs := p.wanted()
	if len(theirs) == 0 {
		return nil
	}
	names := u.cfg.Rules().Naming
	var out []string
	for _, way := range names.Ways() {
		out = append(out, Within(theirs, way.To, way.From)...)
	}
	return Reduce(out, MaxSubjects)
}

// withheld returns the parent's wants that are not sent to it, because of this node or its descendants.
func (u *Up) withheld(wants []string) []Withheld {
	rules := u.cfg.Rules()
	all := append(rules.withheld(wants), rules.placed(u.cfg.Below(), wants)...)
	return all[:min(len(all), mostWithheld)]
}

// Withheld reports that what descendants withhold has changed.
func (u *Up) Withheld() {
	if p := u.now(); p != nil {
		p.withhold(0)
	}
}

// Review applies new rules.
func (u *Up) Review() {
	if p := u.now(); p != nil {
		p.review()
		u.cfg.Turned()
	}
}

func (u *Up) now() *peer {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.peer
}

// Run keeps a connection until ctx ends. dial opens one that passes incoming data to deliver, in order.
func (u *Up) Run(ctx context.Context, dial func(ctx context.Context, deliver func([]byte)) (Conn, error)) {
	wait := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := u.connect(ctx, dial)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestPause {
			wait = firstPause
		}
		u.cfg.Log.DebugContext(ctx, "the connection to the parent for live messages ended", slog.Any("err", err))
		timer := time.NewTimer(wait/2 + rand.N(wait)) //nolint:gosec // jitter
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		wait = min(2*wait, longestPause)
	}
}

// connect runs one connection.
func (u *Up) connect(ctx context.Context, dial func(context.Context, func([]byte)) (Conn, error)) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var conn Conn
	p := newPeer(peerConfig{
		send: func(data []byte) error { return conn.Send(data) }, tap: u.cfg.Tap, rules: u.cfg.Rules, greets: true, rate: u.cfg.Rate,
		judge: Judge{
			MayPublish: func(path point.Path) error {
				if slices.ContainsFunc(u.cfg.Hear, func(at point.Path) bool { return uplink.Below(path, at) }) {
					return nil
				}
				return fault.E("live.Receive", fault.Refused, string(path), errUnheard)
			},
			Speaks: func(node string) bool { return !u.cfg.Behind(node) },
		},
		refused: func(err error) {
			u.cfg.Log.DebugContext(ctx, "a live message of the parent is not taken", slog.Any("err", err))
		},
		turned: u.cfg.Turned, counts: &u.counts, withheld: u.withheld,
	})
	conn, err := dial(ctx, p.offer)
	if err != nil {
		return err
	}
	defer conn.Close()
	u.set(p)
	defer u.set(nil)
	u.counts.began()
	p.tell(hears(u.cfg.Hear))
	go func() { // it ends with ctx
		select {
		case <-conn.Ended():
			end()
		case <-ctx.Done():
		}
	}()
	return p.run(ctx)
}

func (u *Up) set(p *peer) {
	u.mu.Lock()
	u.peer = p
	u.mu.Unlock()
	u.cfg.Turned()
}

// hears returns the subjects wanted from the parent.
func hears(places []point.Path) []string {
	all := []string{wire.ScanPrefix + ">", wire.PointPrefix + ">", wire.MessagePrefix + "*.>"}
	var out []string
	for _, at := range places {
		out = append(out, Within(all, at, at)...)
	}
	return Reduce(out, MaxSubjects)
}
