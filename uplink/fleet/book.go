package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
)

// Book holds what is known of this node and of all below it, in memory. It is safe for concurrent use.
type Book struct {
	now func() time.Time

	mu    sync.Mutex
	self  *record
	below map[place]*record
	sizes map[string]int // nodes of a child
	much  map[string]int // octets of their facts
}

// place is where a node is told of: by which child, and its name, both in lower case; "" for the child
// itself.
type place struct{ child, node string }

func placeOf(child, node string) place {
	p := place{strings.ToLower(child), strings.ToLower(node)}
	if p.node == p.child {
		p.node = ""
	}
	return p
}

// record is what is known of a node.
type record struct {
	name   string // as it is told upwards; "" for this node
	facts  facts
	heard  time.Time // when the node itself told it
	skew   time.Duration
	fresh  bool            // heard of since the parent was told
	full   bool            // the parent must be told everything
	dirty  map[string]bool // facts that changed since the parent was told; none if it must be told everything
	lonely time.Time       // since when no node of this name is known; zero: one is
}

// NewBook returns an empty book.
func NewBook(now func() time.Time) *Book {
	return &Book{now: now, self: newRecord(""), below: map[place]*record{}, sizes: map[string]int{}, much: map[string]int{}}
}

func newRecord(name string) *record {
	return &record{name: name, facts: facts{}, full: true, dirty: map[string]bool{}}
}

const null = "null" // what is told of a fact that is no more

// merge takes facts. Those that are null go; with full also those that are not named.
func (r *record) merge(in facts, full bool) {
	if full {
		for name := range r.facts {
			if _, still := in[name]; !still {
				delete(r.facts, name)
				r.changed(name)
			}
		}
	}
	for name, value := range in {
		old, had := r.facts[name]
		switch {
		case string(value) == null:
			if !had {
				continue
			}
			delete(r.facts, name)
		case bytes.Equal(old, value):
			continue
		default:
			r.facts[name] = value
		}
		r.changed(name)
	}
}

// changed notes that the parent is to be told of a fact: of everything, if the names would be more than a node has.
func (r *record) changed(name string) {
	if r.full {
		return
	}
	r.dirty[name] = true
	if len(r.dirty) > 2*maxFacts {
		r.full = true
		clear(r.dirty)
	}
}

// octets is about how much memory facts take.
func (f facts) octets() (n int) {
	for name, value := range f {
		n += len(name) + len(value) + factOctets
	}
	return n
}

// Own takes how this node is.
func (b *Book) Own(s Status) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.self.merge(factsOf(&s), true)
	b.self.heard, b.self.fresh = b.now(), true
}

// Take takes what a child tells, and answers it, with where its audit log ended as it told before; "" if nothing
// is known of that. It fails with fault.Invalid if the report cannot be read.
func (b *Book) Take(child string, body []byte, audit string) ([]byte, error) {
	const op = "fleet.Take"
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
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	out := Reception{Time: now, Audit: audit}
	for i := range in.Nodes {
		known, err := b.take(child, &in, &in.Nodes[i], now)
		if err != nil {
			return nil, fault.E(op, fault.Invalid, child, err)
		}
		out.Again = out.Again || !known
	}
	return json.Marshal(out)
}

// take takes an entry; false if there is nothing that it changes. The caller holds mu.
func (b *Book) take(child string, in *Report, e *Entry, now time.Time) (known bool, err error) {
	at := placeOf(child, e.Node)
	r := b.below[at]
	if r == nil {
		if !e.Full {
			return false, nil
		}
		if b.sizes[at.child] >= maxNodes || b.much[at.child]+e.Facts.octets() > maxOctets {
			return true, nil // more than a tree may have; those that are known go on
		}
		name := e.Node
		if at.node == "" {
			name = child
		}
		r = newRecord(strings.Clone(name))
		b.below[at] = r
		b.sizes[at.child]++
	}
	if !e.Full && len(r.facts)+len(e.Facts) > 2*maxFacts {
		return true, errLong
	}
	if at.node == "" && e.Facts != nil {
		e.Facts = r.ofChild(e.Facts)
	}
	before := r.facts.octets()
	if b.much[at.child]-before+e.Facts.octets() > maxOctets {
		return true, errLong
	}
	r.merge(e.Facts, e.Full)
	b.much[at.child] += r.facts.octets() - before
	r.heard, r.fresh = now.Add(-time.Duration(max(e.Age, 0))*time.Millisecond), true
	if at.node == "" && !in.Time.IsZero() {
		var rtt float64
		_ = json.Unmarshal(r.facts["rtt_ms"], &rtt) // one that is not there yet is 0
		r.skew = in.Time.Sub(now.Add(-time.Duration(rtt / 2 * float64(time.Millisecond))))
	}
	return true, nil
}

// Seen is what is known of a node.
type Seen struct {
	Status
	Heard time.Time // when it told it, by this node's clock
	// Skew is the clock of a child less that of this node, as this node measured it: with half the
	// way taken into account. Only of children.
	Skew time.Duration
}

// Self returns what this node said of itself last.
func (b *Book) Self() Seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.self.seen()
}

// Look returns what is known of a node that a child tells of, or of the child itself; false if nothing
// is.
func (b *Book) Look(child, node string) (Seen, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.below[placeOf(child, node)]
	if r == nil {
		return Seen{}, false
	}
	return r.seen(), true
}

// Behind returns how many samples wait, as they told, at the nodes below each child; names of children are
// in lower case. What waits at the children themselves does not count.
func (b *Book) Behind() map[string]uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[string]uint64{}
	for at, r := range b.below {
		var n uint64
		if at.node != "" && json.Unmarshal(r.facts["waiting"], &n) == nil && n > 0 {
			out[at.child] += min(n, math.MaxUint64-out[at.child])
		}
	}
	return out
}

func (r *record) seen() Seen { return Seen{Status: r.facts.status(), Heard: r.heard, Skew: r.skew} }

// lonelyTime is how long a node is remembered that nobody knows to be in the tree.
const lonelyTime = time.Minute

// Keep forgets the nodes that are no more in the tree. known reports whether a node stands
// below a child, or is it; names are in lower case.
func (b *Book) Keep(known func(child, node string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for at, r := range b.below {
		node := at.node
		if node == "" {
			node = at.child
		}
		switch {
		case known(at.child, node):
			r.lonely = time.Time{}
		case r.lonely.IsZero():
			r.lonely = now
		case now.Sub(r.lonely) >= lonelyTime:
			delete(b.below, at)
			if b.much[at.child] -= r.facts.octets(); b.much[at.child] <= 0 {
				delete(b.much, at.child)
			}
			if b.sizes[at.child]--; b.sizes[at.child] == 0 {
				delete(b.sizes, at.child)
			}
		}
	}
}

// anew makes the next reports tell everything.
func (b *Book) anew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records() {
		r.full, r.fresh = true, r.fresh || !r.heard.IsZero()
	}
}

// records lists this node's record and those of all below. The caller holds mu.
func (b *Book) records() []*record {
	list := make([]*record, 1, 1+len(b.below))
	list[0] = b.self
	for _, r := range b.below {
		list = append(list, r)
	}
	return list
}

// portion is how many octets of facts a report holds.
const portion = 64 << 10

// draft returns the entries that the parent is to be told next, and whether there are more. They count
// as told: if they do not arrive, anew must follow.
func (b *Book) draft() (list []Entry, more bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, octets := b.now(), 0
	for _, r := range b.records() {
		if !r.fresh {
			continue
		}
		if octets > portion {
			return list, true
		}
		e := r.entry(now)
		for name, value := range e.Facts {
			octets += len(name) + len(value) + 4
		}
		octets += len(e.Node) + 20
		list = append(list, e)
	}
	return list, false
}

// entry is what the parent is told of the node next.
func (r *record) entry(now time.Time) Entry {
	e := Entry{Node: r.name, Full: r.full, Facts: facts{}}
	if r.name != "" {
		e.Age = max(0, now.Sub(r.heard).Milliseconds())
	}
	if r.full {
		for name, value := range r.facts {
			e.Facts[name] = slices.Clone(value)
		}
	} else {
		for name := range r.dirty {
			value, has := r.facts[name]
			if !has {
				value = json.RawMessage(null)
			}
			e.Facts[name] = slices.Clone(value)
		}
	}
	clear(r.dirty)
	r.full, r.fresh = false, false
	return e
}
