// Package tree knows the nodes below and above this one by name, and passes requests on from node to
// node: to one below it by the child on the way, to any other by the parent. Each node judges what its
// neighbour may do there, so that nobody gets further than the nodes on the way let it. The package is
// given functions that ask the neighbours, and knows no bus.
package tree

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Above is the parent of this node.
type Above struct {
	Name   string    // the parent's
	As     string    // what it calls this node
	Online bool      // this node is connected to it
	Since  time.Time // it is, or is not; zero: unknown
}

// Hop is a neighbour that asks.
type Hop struct {
	Name  string
	Above bool // it is the parent, or somebody above asks by it; else a child
}

// Visitor is who asks something of this node from elsewhere: somebody of another node, by a neighbour,
// with what the neighbour may do here.
type Visitor struct {
	Hop
	// For is who asks; the zero Principal if the neighbour does not say.
	For identity.Principal
	// Role is that of a person, at most what the neighbour may carry; Nobody for an agent, and if a node
	// on the way does not say: see As.
	Role identity.Role
	// Own is what an agent holds by name at home; nil if a node on the way does not say, which is nothing.
	Own    *identity.Grants
	Grants identity.Grants // of the neighbour
}

// Neighbour is the name of the neighbour among the callers of this node's bus, such as @campus.
func (v *Visitor) Neighbour() string { return identity.ChildPrefix + v.Name }

// Requester is the name to which belongs what is done here: who asks, such as agent:campus/weather; or
// agent:@campus, all whose requests the neighbour passes on and of whom it does not say who they are.
func (v *Visitor) Requester() string {
	if v.For == (identity.Principal{}) {
		return identity.AgentKind + ":" + v.Neighbour()
	}
	return v.For.String()
}

// Event is a request as the audit log is told of it.
type Event struct {
	From    string // the neighbour that asked, or "" if it was asked here
	Request *Request
	Passed  bool // it was passed on, and not answered here
	Err     error
	// Claimed is for whom the neighbour said that it asks, and cannot: the request was refused. Any
	// text; "" if there is nothing wrong with it.
	Claimed string
}

// Config is what a Tree needs. All functions must be there; they are safe for concurrent use.
type Config struct {
	Name     string                         // of this node
	Origins  func() []string                // of its blocks
	Children func() []Child                 // those that may connect
	Parent   func() (Above, bool)           // false: it has none
	Place    func(at point.Path) point.Path // where a place here lies at the parent
	Grants   func(Hop) (identity.Grants, error)
	// Up asks the parent, as a connection to it does: fault.Unreachable, at once, without one.
	Up func(ctx context.Context, method string, body []byte) ([]byte, error)
	// Down asks a child, and returns the body of its answer: fault.Unreachable, at once, if it is not
	// connected, and as soon as its connection ends.
	Down func(ctx context.Context, child, method string, body []byte) ([]byte, error)
	// Here answers what is asked of this node.
	Here func(ctx context.Context, v *Visitor, r *Request) (json.RawMessage, error)
	// Reads reports whether a method of a node changes nothing there, of which Tell is not told; nil: every one may.
	Reads func(method string) bool
	// Tell is told of requests that change something, and of what is refused. It returns at once.
	Tell func(Event)
	// Refused is told of a node that is not let into the tree. It returns at once.
	Refused func(child string, r Refused)
	File    string // where is kept who is below; "" for nowhere
	Log     *slog.Logger
	Now     func() time.Time
}

// Tree is safe for concurrent use.
type Tree struct {
	cfg  Config
	down *roster

	mu      sync.Mutex
	above   []string  // the parent and those above it
	heard   uint64    // how often the parent told that this changed
	refused []Refused // of what was told to the parent
	moved   bool      // above changed, and the children do not know
	wake    chan struct{}
	told    told
}

// New returns the tree of a node. It starts nothing. What the file holds and cannot be read is left
// behind, since children tell it again.
func New(cfg Config) *Tree {
	t := &Tree{cfg: cfg, down: newRoster(), wake: make(chan struct{}, 1)}
	t.load()
	return t
}

// Self reports whether this node has the name: its own, or what its parent calls it.
func (t *Tree) Self(name string) bool {
	if strings.EqualFold(name, t.cfg.Name) {
		return true
	}
	above, is := t.cfg.Parent()
	return is && strings.EqualFold(name, above.As)
}

// Below lists the nodes below this one, those above others first.
func (t *Tree) Below() []Node {
	t.down.meet(t.cfg.Children(), t.cfg.Now())
	return t.down.nodes()
}

// Ancestors lists the nodes above this one, the nearest first, and those of this node's tree that the
// parent does not let in.
func (t *Tree) Ancestors() (names []string, refused []Refused) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.above, t.refused
}

// taken says whose name it is, of this node or one above; "" of none of them.
func (t *Tree) taken(name string) string {
	if t.Self(name) {
		return "the node " + t.cfg.Name + " above it"
	}
	if above, is := t.cfg.Parent(); is && strings.EqualFold(name, above.Name) {
		return "the node " + above.Name + " above it"
	}
	names, _ := t.Ancestors()
	for _, a := range names {
		if strings.EqualFold(name, a) {
			return "the node " + a + " above it"
		}
	}
	return ""
}

// Report takes what a child tells, and answers it.
func (t *Tree) Report(child string, body []byte) ([]byte, error) {
	var in Report
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fault.E("tree.Report", fault.Invalid, child, err)
	}
	t.down.meet(t.cfg.Children(), t.cfg.Now())
	refused, fresh, err := t.down.report(child, in.Nodes, t.taken, t.cfg.Now())
	if err != nil {
		return nil, err
	}
	for _, r := range fresh {
		t.cfg.Refused(child, r)
	}
	t.Changed()
	return json.Marshal(Reception{Above: t.lineage(), Refused: refused})
}

// lineage is what stands above a child: this node and those above it.
func (t *Tree) lineage() []string {
	names, _ := t.Ancestors()
	return append([]string{t.cfg.Name}, names[:min(len(names), MaxHops)]...)
}

// Above takes what the parent says of those above.
func (t *Tree) Above(body []byte) error {
	var in Reception
	if err := json.Unmarshal(body, &in); err != nil {
		return fault.E("tree.Above", fault.Invalid, "above", err)
	}
	t.mu.Lock()
	t.heard++
	changed := t.rise(in.Above)
	t.mu.Unlock()
	if changed {
		t.Changed()
	}
	return nil
}

// received takes what the parent answers to a report. If it told meanwhile who is above, that is newer than
// its answer, or as new.
func (t *Tree) received(r *Reception, heard uint64) {
	t.mu.Lock()
	t.refused = r.Refused
	changed := t.heard == heard && t.rise(r.Above)
	t.mu.Unlock()
	if changed {
		t.Changed()
	}
}

// rise notes who is above, and whether that changed: then children are to be told. The caller holds mu.
func (t *Tree) rise(above []string) (changed bool) {
	above = clipTexts(above, MaxHops)
	changed = !slices.Equal(t.above, above)
	t.above, t.moved = above, t.moved || changed
	return changed
}

// news returns how often the parent told who is above.
func (t *Tree) news() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.heard
}

// Changed lets Run look at once at who is there.
func (t *Tree) Changed() {
	select {
	case t.wake <- struct{}{}:
	default: // it looks anyway
	}
}
