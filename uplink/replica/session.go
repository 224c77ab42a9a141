package replica

import (
	"encoding/json"
	"slices"

	"voltbus/point"
)

// portion is how many bytes of parts a report holds.
const portion = 64 << 10

// session is what this node and its parent have in common on a connection. One goroutine uses it.
type session struct {
	table  *Table
	begun  bool      // the first offers went out
	offers []*record // that are still to be sent
	agreed bool      // all was offered
	heard  bool      // only nodes that have reported are of interest
}

// reset begins again with offers: what the parent has is not known.
func (s *session) reset() { s.begun, s.offers, s.agreed = false, nil, false }

// next returns the report that the parent is sent next, and whether another one follows at once; nil for nothing.
// What it holds counts as sent: if it does not arrive, reset must follow.
func (s *session) next() (out *Report, more bool) {
	t := s.table
	t.meet()
	place := t.cfg.Place
	t.mu.Lock()
	defer t.mu.Unlock()
	records := t.forest.outward(place)
	now := t.cfg.Now()
	out = &Report{Time: now}
	if !s.agreed {
		if !s.begun {
			out.Begin, s.begun, s.offers = true, true, records
			t.forest.gone = nil
		}
		for size := 0; len(s.offers) > 0 && size < portion; s.offers = s.offers[1:] {
			out.Nodes = append(out.Nodes, s.offers[0].offer(now))
			size += len(s.offers[0].name) + 60
		}
		s.agreed = len(s.offers) == 0
		out.End = s.agreed
		return out, true
	}
	for _, name := range t.forest.gone {
		out.Nodes = append(out.Nodes, Entry{Node: name, Gone: true})
	}
	t.forest.gone = nil
	size := 0
	for _, r := range records {
		if (!r.fresh && len(r.dirty) == 0) || (s.heard && r != t.forest.self && r.heard.IsZero()) {
			continue
		}
		if size > portion {
			return out, true
		}
		e, n := r.delta(now, portion)
		out.Nodes, size = append(out.Nodes, e), size+n+len(r.name)+40
		more = more || r.fresh
	}
	if len(out.Nodes) == 0 {
		return nil, false
	}
	return out, more
}

// outward lists the documents that the parent is to have, with where the nodes stand as it is to know it.
func (f *forest) outward(place func(point.Path) point.Path) []*record {
	list := []*record{f.self}
	for _, b := range f.branches {
		for _, r := range b.sorted() {
			n := b.at(r)
			if len(n.Path) >= MaxHops-1 || len(list) == MaxNodes {
				continue
			}
			n.Name = ""
			if n.Prefix = place(n.Prefix); len(n.Prefix) > point.MaxPath {
				n.Prefix = ""
			}
			text, err := json.Marshal(n)
			if err == nil { // texts and times are always written
				r.say(nodePart, text)
			}
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list[1:], byDepth)
	return list
}

// answered takes what the parent says of a report.
func (s *session) answered(in *Reception) {
	t := s.table
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, there := range in.Want {
		if name == "" {
			t.forest.self.differs(there)
			continue
		}
		if _, r := t.forest.find(name); r != nil {
			r.differs(there)
		}
	}
}

// watch takes the outages of each child, the newest first, so that those above hear of them.
func (t *Table) watch() {
	if t.cfg.Outages == nil {
		return
	}
	for _, c := range t.cfg.Children() {
		list := t.cfg.Outages(c.Name)
		value, err := json.Marshal(list[:min(len(list), mostOutages)]) // shorter than a part may be
		if err != nil || len(list) == 0 {
			value = nil
		}
		t.mu.Lock()
		if b := t.forest.branches[key(c.Name)]; b != nil {
			b.child.say(outagesPart, value)
		}
		t.mu.Unlock()
	}
}
