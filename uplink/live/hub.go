package live

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/identity"
	"voltbus/point"
)

// Intervals of a hub.
const (
	lookEach  = 50 * time.Millisecond // checks for changed subscriptions
	calm      = time.Second           // how long subjects that are no longer wanted are still requested: pages come and go
	goneEach  = time.Second           // checks whether children are still connected
	mostKnown = 100_000               // children whose counts are kept
)

// Child is what a hub needs to know about a child.
type Child struct {
	Publish   []point.Pattern // where it may publish
	Subscribe identity.Grants // what it may subscribe to here
}

// HubConfig is what a Hub needs. All are required; functions must be safe for concurrent use.
type HubConfig struct {
	Name      string                                         // this node's name at its children
	Tap       func() (Tap, error)                            // opens a tap
	Send      func(child, session string, data []byte) error // sends a frame to a child
	Connected func() map[string]bool                         // the children that have a connection for live messages
	Child     func(name string) (Child, bool)                // false for one that is no longer permitted
	Behind    func(child, node string) bool                  // whether a node is the child or its descendant
	Turnover  func() uint64                                  // changes when Interest does
	Interest  func() ([]string, error)                       // the subjects subscribed to on this bus
	Above     func() []string                                // what the parent wants of this node, in this node's names
	Refused   func(child string, err error)                  // is called when something from a child is refused
	Withheld  func()                                         // is called when what children withhold has changed
	Log       *slog.Logger
}

// Hub is a node's end of the links to its children. It is safe for concurrent use.
type Hub struct {
	cfg  HubConfig
	news chan struct{} // holds one entry when a session was added, or wants have changed

	mu       sync.Mutex
	running  context.Context //nolint:containedctx // of Run, which sessions end with
	shared   Tap
	sessions map[string]*session // by child
	counts   map[string]*Counts  // by child
	done     sync.WaitGroup
}

// session is a child's connection.
type session struct {
	id      string
	peer    *peer
	end     context.CancelFunc
	child   Child
	told    []string
	lessens time.Time // since when less is wanted than was requested; zero: it is not
}

// NewHub returns a hub. It starts nothing.
func NewHub(cfg HubConfig) *Hub { //nolint:gocritic // once a node
	return &Hub{cfg: cfg, news: make(chan struct{}, 1), sessions: map[string]*session{}, counts: map[string]*Counts{}}
}

// Status returns the state of the links to children, by name. Withheld includes what nodes beyond the link withhold.
func (h *Hub) Status() map[string]Status {
	all := h.status()
	for child, s := range all {
		s.Withheld = slices.DeleteFunc(s.Withheld, func(w Withheld) bool { return !h.cfg.Behind(child, w.Node) })
		all[child] = s
	}
	return all
}

func (h *Hub) status() map[string]Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[string]Status, len(h.counts))
	for child, c := range h.counts {
		out[child] = c.Status()
	}
	return out
}

// Withheld returns what is wanted here, or above, but withheld by children, as they report it.
func (h *Hub) Withheld() (out []Withheld) {
	for _, s := range h.status() {
		out = append(out, s.Withheld...)
	}
	slices.SortFunc(out, func(a, b Withheld) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Subject, b.Subject)) })
	return out
}

// Changed reports that what the parent wants, or what a child may do, has changed.
func (h *Hub) Changed() {
	select {
	case h.news <- struct{}{}:
	default:
	}
}

// Receive accepts a frame from a child. It never blocks.
func (h *Hub) Receive(child, id string, data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[child]
	if s == nil || s.id != id {
		if !isHello(data) {
			return
		}
		if s = h.begin(child, id); s == nil {
			return
		}
	}
	s.peer.offer(data)
}

func isHello(data []byte) bool {
	var w word
	return len(data) < maxSubject && len(data) > 0 && data[0] == '{' && json.Unmarshal(data, &w) == nil && w.Hello
}

// begin creates the session of a new connection, which replaces the previous one. The caller holds mu.
func (h *Hub) begin(child, id string) *session {
	c, known := h.cfg.Child(child)
	if h.running == nil || !known || (h.counts[child] == nil && len(h.counts) >= mostKnown) {
		return nil
	}
	if old := h.sessions[child]; old != nil {
		old.end()
	}
	counts := h.counts[child]
	if counts == nil {
		counts = &Counts{}
		h.counts[child] = counts
	}
	ctx, end := context.WithCancel(h.running)
	s := &session{id: id, end: end, child: c}
	s.peer = newPeer(peerConfig{
		send: func(data []byte) error { return h.cfg.Send(child, id, data) }, tap: h.cfg.Tap, shared: h.shared,
		rules: func() Rules {
			now, _ := h.cfg.Child(child)
			return Rules{Grants: now.Subscribe, Self: h.cfg.Name}
		},
		judge: Judge{
			MayPublish: func(path point.Path) error {
				now, _ := h.cfg.Child(child)
				g := identity.Grants{Publish: now.Publish}
				return g.MayPublish(path)
			},
			Speaks: func(node string) bool { return h.cfg.Behind(child, node) },
		},
		refused: func(err error) { h.cfg.Refused(child, err) }, turned: h.Changed, told: h.cfg.Withheld, counts: counts,
	})
	h.sessions[child] = s
	counts.began()
	h.done.Go(func() {
		if err := s.peer.run(ctx); err != nil {
			h.cfg.Log.Warn("live messages of a child ended", slog.String("child", child), slog.Any("err", err))
		}
		h.cfg.Withheld()
	})
	h.Changed()
	return s
}

// Run tells children what is wanted from them, until ctx ends.
func (h *Hub) Run(ctx context.Context) error {
	shared, err := h.cfg.Tap()
	if err != nil {
		return err
	}
	running, end := context.WithCancel(ctx)
	h.mu.Lock()
	h.running, h.shared = running, shared
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.running = nil
		clear(h.sessions)
		h.mu.Unlock()
		end()
		h.done.Wait()
		shared.Close()
	}()
	look, gone := time.NewTicker(lookEach), time.NewTicker(goneEach)
	defer look.Stop()
	defer gone.Stop()
	turnover, again := ^uint64(0), true // not a real value
	var here []string                   // what was wanted here at the last check
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.news:
			again = true
		case <-gone.C:
			h.sweep()
		case <-look.C:
			if !h.any() {
				continue
			}
			if now := h.cfg.Turnover(); now != turnover {
				wanted, err := h.cfg.Interest()
				if err != nil {
					continue
				}
				slices.Sort(wanted)
				turnover, again = now, again || !slices.Equal(wanted, here)
				here = wanted
			}
			if again {
				again = h.spread(here, time.Now())
			}
		}
	}
}

func (h *Hub) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions) > 0
}

// sweep ends the sessions of disconnected children.
func (h *Hub) sweep() {
	if !h.any() {
		return
	}
	connected := h.cfg.Connected()
	h.mu.Lock()
	defer h.mu.Unlock()
	for child, s := range h.sessions {
		if !connected[child] {
			s.end()
			delete(h.sessions, child)
		}
	}
}

// spread tells each child what is now wanted from it, given what is wanted here. again means that something is left for later.
func (h *Hub) spread(here []string, now time.Time) (again bool) {
	here = slices.Concat(here, h.cfg.Above())
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, s := range h.sessions {
		child, known := h.cfg.Child(name)
		if !known {
			continue
		}
		if !same(&s.child, &child) {
			s.child = child
			s.peer.review()
		}
		wanted := here
		for other, o := range h.sessions {
			if theirs := o.peer.wanted(); other != name && len(theirs) > 0 {
				wanted = slices.Concat(wanted, theirs)
			}
		}
		if s.tell(Reduce(confined(wanted, child.Publish), MaxSubjects), now) {
			again = true
		}
	}
	return again
}

func same(a, b *Child) bool {
	return slices.Equal(a.Publish, b.Publish) && slices.Equal(a.Subscribe.Subscribe, b.Subscribe.Subscribe) && a.Subscribe.Administer == b.Subscribe.Administer
}

// confined returns the part of the subjects that can be published with the given rights.
func confined(subjects []string, publish []point.Pattern) []string {
	var out []string
	for _, pattern := range publish {
		base := pattern
		if before, deep := strings.CutSuffix(string(pattern), "/**"); deep {
			base = point.Pattern(before)
		}
		prefix := base.Prefix() // for one with wildcards, the part before them
		out = append(out, Within(subjects, prefix, prefix)...)
	}
	return out
}

// tell tells a child what is wanted from it: additions at once, removals after a while.
func (s *session) tell(wanted []string, now time.Time) (later bool) {
	if slices.Equal(wanted, s.told) {
		s.lessens = time.Time{}
		return false
	}
	if includes(s.told, wanted) {
		if s.lessens.IsZero() {
			s.lessens = now
		}
		if now.Sub(s.lessens) < calm {
			return true
		}
	} else if len(s.told) > 0 { // removals go with the next update
		both := Reduce(slices.Concat(wanted, s.told), MaxSubjects)
		s.told, s.lessens = both, now
		s.peer.tell(both)
		return true
	}
	s.told, s.lessens = wanted, time.Time{}
	s.peer.tell(wanted)
	return false
}
