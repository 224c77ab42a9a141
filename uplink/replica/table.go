package replica

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink/lineage"
)

// Child is a child of this node that may connect.
type Child struct {
	Name   string
	Prefix point.Path // path of its points here; "" for anywhere
	Online bool
}

// TableConfig is what a Table needs. All functions are required and must be safe for concurrent use.
type TableConfig struct {
	Children func() []Child                 // those that may connect
	Place    func(at point.Path) point.Path // the path at the parent of a local one
	Lineage  *lineage.Lineage
	// Outages returns the outages of a child, newest first; nil reports none.
	Outages func(child string) []Outage
	// Refused is called for a node that is not admitted to the tree. It must return at once.
	Refused func(child string, r lineage.Refused)
	Now     func() time.Time
}

// Table holds the documents of this node and all its descendants. It is safe for concurrent use.
type Table struct {
	cfg TableConfig

	mu     sync.Mutex
	forest forest
}

// NewTable returns a table that contains only this node.
func NewTable(cfg TableConfig) *Table {
	return &Table{cfg: cfg, forest: forest{self: newRecord(""), branches: map[string]*branch{}}}
}

// meet updates the children: former children are removed, and the times since when children are away are
// recorded.
func (t *Table) meet() {
	children, now := t.cfg.Children(), t.cfg.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	is := make(map[string]bool, len(children))
	for _, c := range children {
		is[key(c.Name)] = true
		b := t.forest.branches[key(c.Name)]
		if b == nil {
			b = &branch{child: newRecord(c.Name), nodes: map[string]*record{}, away: now}
			t.forest.branches[key(c.Name)] = b
			t.forest.changed()
		}
		if n := &b.child.node; n.Name != c.Name || n.Prefix != c.Prefix {
			b.child.name, n.Name, n.Path, n.Prefix = c.Name, c.Name, []string{c.Name}, c.Prefix
			t.forest.changed()
		}
		switch {
		case c.Online && !b.away.IsZero():
			b.away, b.came = time.Time{}, now
			t.forest.changed()
		case !c.Online && b.away.IsZero():
			b.away, b.modern, b.why = now, false, ""
			t.forest.changed()
		}
	}
	for k, b := range t.forest.branches {
		if !is[k] {
			t.forest.drop(b, func(*record) bool { return true })
			t.forest.gone = append(t.forest.gone, b.child.name)
			delete(t.forest.branches, k)
			t.forest.changed()
		}
	}
}

// Own sets this node's status.
func (t *Table) Own(s Status, origins []string) {
	p := s.parts()
	p[nodePart], _ = json.Marshal(Node{Origins: origins}) // strings cannot fail
	t.own(p, func(part string) bool { return part != ledgerPart && !strings.HasPrefix(part, originPart) })
}

func (t *Table) own(p parts, kind func(part string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forest.self.merge(t.forest.self.without(p, kind))
	t.forest.self.heard, t.forest.self.fresh = t.cfg.Now(), true
}

// Take processes a child's report, and answers it; audit is the end of its audit log as reported before, "" if
// unknown.
func (t *Table) Take(child string, body []byte, audit string) ([]byte, error) {
	const op = "replica.Take"
	var in Report
	if len(body) > maxReport {
		return nil, fault.E(op, fault.Invalid, child, errLong)
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, fault.E(op, fault.Invalid, child, fmt.Errorf("%w: %w", errReport, err))
	}
	for i := range in.Nodes {
		if err := in.Nodes[i].check(); err != nil {
			return nil, fault.E(op, fault.Invalid, child, err)
		}
	}
	out := Reception{Above: t.cfg.Lineage.Names(), Audit: audit}
	err := t.with(child, func(b *branch) error {
		x := exchange{forest: &t.forest, branch: b, in: &in, now: t.cfg.Now(), want: map[string]map[string]uint64{}}
		out.Time, out.Want = x.now, x.want
		return x.take()
	}, &out.Refused)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// with runs a function on the documents of a child, and then checks its descendants.
func (t *Table) with(child string, do func(*branch) error, refused *[]lineage.Refused) error {
	above := t.cfg.Lineage.Names()
	t.mu.Lock()
	t.forest.rejudge(above)
	b := t.forest.branches[key(child)]
	if b == nil { // it may have just connected
		t.mu.Unlock()
		t.meet()
		t.mu.Lock()
		b = t.forest.branches[key(child)]
	}
	if b == nil {
		t.mu.Unlock()
		return fault.E("replica.Take", fault.Refused, child, errStranger)
	}
	err := do(b)
	var fresh []lineage.Refused
	if b.judge || len(b.lost) > 0 {
		fresh = t.forest.admit(b, t.cfg.Lineage)
	}
	*refused = b.lost
	t.mu.Unlock()
	for _, r := range fresh {
		t.cfg.Refused(child, r)
	}
	if err != nil {
		return fault.E("replica.Take", fault.Invalid, child, err)
	}
	return nil
}

// Seen is what is known about a node.
type Seen struct {
	Status
	Heard time.Time // when it reported, by this node's clock
	Kept  bool      // it has not reported since this node started
	// Skew is a child's clock minus this node's, as measured by this node, corrected by half the round-trip
	// time. Only set for children.
	Skew time.Duration
}

func (r *record) seen() Seen {
	return Seen{Status: r.status(), Heard: r.heard, Kept: r.kept, Skew: r.skew}
}

// Self returns this node's last status.
func (t *Table) Self() Seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forest.self.seen()
}

// Look returns what is known about a descendant of a child, or the child itself; false if nothing is.
func (t *Table) Look(child, node string) (Seen, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.forest.record(child, node)
	if r == nil || r.heard.IsZero() {
		return Seen{}, false
	}
	return r.seen(), true
}

// Waiting returns the reported backlog, in samples, of the descendants of each child; names of children are in
// lower case. The backlog of the children themselves is not included.
func (t *Table) Waiting() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]uint64{}
	for k, b := range t.forest.branches {
		for _, r := range b.nodes {
			var n uint64
			if r.why == "" && json.Unmarshal(r.parts["waiting"], &n) == nil && n > 0 {
				out[k] += min(n, math.MaxUint64-out[k])
			}
		}
	}
	return out
}

// Nodes lists all descendants, parents before children, children in order of name.
func (t *Table) Nodes() []Node {
	t.meet()
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []Node
	for _, k := range slices.Sorted(maps.Keys(t.forest.branches)) {
		b := t.forest.branches[k]
		for _, r := range b.sorted() {
			list = append(list, b.at(r))
		}
	}
	return list
}

// Find returns the named node, and the disconnected node on the way to it, if any.
func (t *Table) Find(name string) (n, missing Node, found bool) {
	if n, missing, found = t.find(name); !found {
		t.meet() // it may have just connected
		n, missing, found = t.find(name)
	}
	return n, missing, found
}

func (t *Table) find(name string) (n, missing Node, found bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, r := t.forest.find(name)
	if r == nil {
		return n, missing, false
	}
	if n = b.at(r); n.Away.IsZero() {
		return n, missing, true
	}
	for _, hop := range n.Path {
		if on := b.find(hop); on != nil && !b.at(on).Away.IsZero() {
			return n, b.at(on), true
		}
	}
	return n, n, true
}

// Behind returns the child through which a node is reached, and the node's name as known here; "" for one
// that is not a descendant.
func (t *Table) Behind(name string) (child, known string) {
	n, _, found := t.find(name)
	if !found {
		return "", ""
	}
	return n.Path[0], n.Name
}

// Branch lists the names of a child and all its descendants, as last known.
func (t *Table) Branch(child string) (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.forest.branches[key(child)]; b != nil {
		for _, r := range b.sorted() {
			names = append(names, r.name)
		}
	}
	return names
}
