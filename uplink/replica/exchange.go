package replica

import (
	"encoding/json"
	"strings"
	"time"
)

// maxDigests is how many digests of parts an answer holds; beyond that, everything is requested.
const maxDigests = 8000

// maxAge is the maximum age of a report in milliseconds: a century.
const maxAge = 100 * 365 * 24 * 3_600_000

// exchange is the processing of a child's report.
type exchange struct {
	forest *forest
	branch *branch
	in     *Report
	now    time.Time
	want   map[string]map[string]uint64
	listed int // digests in want
}

// take processes the entries within bounds.
func (x *exchange) take() error {
	b := x.branch
	b.modern, b.why = true, ""
	if x.in.Begin {
		b.round++
	}
	for i := range x.in.Nodes {
		if err := x.entry(&x.in.Nodes[i]); err != nil {
			return err
		}
	}
	if x.in.End {
		x.forest.drop(b, func(r *record) bool { return r.offered != b.round })
	}
	return nil
}

// record returns the document of an entry, a new one for a yet unknown node; nil if there is none: one to be
// requested again, or one node too many.
func (x *exchange) record(e *Entry) *record {
	b := x.branch
	if e.Node == "" {
		return b.child
	}
	r := b.nodes[key(e.Node)]
	switch {
	case r != nil:
		return r
	case len(b.nodes) >= MaxNodes || b.bytes+e.Parts.size() > maxBranch:
		return nil // more than a tree may have; known ones continue
	case e.Base != 0 || e.Digest != 0:
		x.want[e.Node] = map[string]uint64{}
	}
	r = newRecord(strings.Clone(e.Node))
	r.why, r.version = whyUnknown, e.Base
	b.nodes[key(e.Node)] = r
	return r
}

func (x *exchange) entry(e *Entry) error {
	b := x.branch
	if e.Gone {
		x.forest.drop(b, func(r *record) bool { return key(r.name) == key(e.Node) })
		return nil
	}
	r := x.record(e)
	if r == nil {
		return nil
	}
	r.offered = b.round
	switch {
	case e.Digest != 0:
		r.version = e.Version
		if sum, each := r.received(); sum != e.Digest {
			x.ask(r, e.Node, each)
		}
	case e.Base != r.version:
		_, each := r.received()
		r.version = e.Version
		x.ask(r, e.Node, each)
		return nil
	default:
		if err := x.merge(r, e); err != nil {
			return err
		}
	}
	if r.fresh = true; e.Age >= 0 {
		r.heard, r.kept = x.now.Add(-time.Duration(min(e.Age, maxAge))*time.Millisecond), false
	}
	if r == b.child && !x.in.Time.IsZero() {
		var rtt float64
		_ = json.Unmarshal(r.parts["rtt_ms"], &rtt) // 0 if absent
		r.skew = x.in.Time.Sub(x.now.Add(-time.Duration(rtt / 2 * float64(time.Millisecond))))
	}
	return nil
}

// ask requests what differs from this node's data.
func (x *exchange) ask(r *record, name string, each map[string]uint64) {
	if x.listed += len(each); x.listed > maxDigests {
		each = map[string]uint64{}
		x.forest.merge(x.branch, r, r.without(nil, func(string) bool { return true }))
	}
	x.want[name] = each
}

// merge merges the changed parts.
func (x *exchange) merge(r *record, e *Entry) error {
	if r == x.branch.child {
		delete(e.Parts, outagesPart)
	}
	if err := r.judge(e.Parts); err != nil {
		return err
	}
	if x.branch.bytes+e.Parts.size() > maxBranch {
		return errLarge
	}
	r.version = e.Version
	x.forest.merge(x.branch, r, e.Parts)
	return nil
}

// place decodes the position of a node.
func (r *record) place(child *record) {
	var n Node
	if json.Unmarshal(r.parts[nodePart], &n) != nil {
		n = Node{}
	}
	n.Origins = clipTexts(n.Origins, maxListed)
	if r == child {
		r.node.Origins = n.Origins
		return
	}
	n.Name = r.name
	if len(n.Path) > 0 {
		n.Path = append([]string{child.name}, n.Path...)
	}
	r.node = n
}
