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
	Prefix point.Path // below which its points lie here; "" for anywhere
	Online bool
}

// TableConfig is what a Table needs. All functions must be there; they are safe for concurrent use.
type TableConfig struct {
	Children func() []Child                 // those that may connect
	Place    func(at point.Path) point.Path // where a place here lies at the parent
	Lineage  *lineage.Lineage
	// Outages returns when a child was not connected, the newest first; nil reports none.
	Outages func(child string) []Outage
	// Refused is called for a node that is not let into the tree. It returns at once.
	Refused func(child string, r lineage.Refused)
	Now     func() time.Time
}

// Table holds the documents of this node and of all below it. It is safe for concurrent use.
type Table struct {
	cfg TableConfig

	mu     sync.Mutex
	forest forest
}

// NewTable returns a table that knows of no node but this one.
func NewTable(cfg TableConfig) *Table {
	return &Table{cfg: cfg, forest: forest{self: newRecord(""), branches: map[string]*branch{}}}
}

// meet takes the children as they are now: those that are no children any more are forgotten, and since
// when one is away is noted.
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

// Own takes how this node is.
func (t *Table) Own(s Status, origins []string) {
	p := s.parts()
	p[nodePart], _ = json.Marshal(Node{Origins: origins}) // texts
	t.own(p, func(part string) bool { return part != ledgerPart && !strings.HasPrefix(part, originPart) })
}

func (t *Table) own(p parts, kind func(part string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forest.self.merge(t.forest.self.without(p, kind))
	t.forest.self.heard, t.forest.self.fresh = t.cfg.Now(), true
}

// Take takes a child's report, and answers it, with where its audit log ended as it reported before; "" if nothing
// is known of that.
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

// with has something done to the documents of a child, and its descendants checked.
func (t *Table) with(child string, do func(*branch) error, refused *[]lineage.Refused) error {
	above := t.cfg.Lineage.Names()
	t.mu.Lock()
	t.forest.rejudge(above)
	b := t.forest.branches[key(child)]
	if b == nil { // it may have come just now
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

// Seen is what is known of a node.
type Seen struct {
	Status
	Heard time.Time // when it reported, by this node's clock
	Kept  bool      // nothing was heard of it since this node started
	// Skew is the clock of a child less that of this node, as this node measured it: with half the
	// way taken into account. Only of children.
	Skew time.Duration
}

func (r *record) seen() Seen {
	return Seen{Status: r.status(), Heard: r.heard, Kept: r.kept, Skew: r.skew}
}

// Self returns what this node said of itself last.
func (t *Table) Self() Seen {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.forest.self.seen()
}

// Look returns what is known of a descendant of a child, or of the child itself; false if nothing is.
func (t *Table) Look(child, node string) (Seen, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.forest.record(child, node)
	if r == nil || r.heard.IsZero() {
		return Seen{}, false
	}
	return r.seen(), true
}

// Waiting returns how many samples wait, as they reported, at the descendants of each child; names of children are
// in lower case. What waits at the children themselves does not count.
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

// Nodes lists all descendants, those above others first, children in order of their names.
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

// Find returns the node of a name, and the one on the way to it that is away, if one is.
func (t *Table) Find(name string) (n, missing Node, found bool) {
	if n, missing, found = t.find(name); !found {
		t.meet() // it may have come just now
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

// Behind returns the child by which a node is reached, and the node's name as it is known; "" for one
// that is not below.
func (t *Table) Behind(name string) (child, known string) {
	n, _, found := t.find(name)
	if !found {
		return "", ""
	}
	return n.Path[0], n.Name
}

// Branch lists the names of a child and of all below it, as they were known last.
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
