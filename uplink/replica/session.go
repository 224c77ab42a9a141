package replica

import (
	"encoding/json"
	"slices"

	"voltbus/point"
)

// portion is the size of the parts in a report in bytes.
const portion = 64 << 10

// session is the shared state of this node and its parent on a connection. One goroutine uses it.
type session struct {
	table  *Table
	begun  bool      // the first offers have been sent
	offers []*record // still to be sent
	agreed bool      // everything has been offered
	heard  bool      // only nodes that have reported are included
}

// reset starts over with offers: the parent's state is unknown.
func (s *session) reset() { s.begun, s.offers, s.agreed = false, nil, false }

// next returns the next report for the parent, and whether another one follows at once; nil for none. Its content
// counts as sent: if it does not arrive, reset must follow.
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

// outward lists the documents for the parent, with the nodes' positions in the form for it.
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
			if err == nil { // strings and times cannot fail
				r.say(nodePart, text)
			}
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list[1:], byDepth)
	return list
}

// answered processes the parent's answer to a report.
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

// watch records the outages of each child, newest first, to report them upwards.
func (t *Table) watch() {
	if t.cfg.Outages == nil {
		return
	}
	for _, c := range t.cfg.Children() {
		list := t.cfg.Outages(c.Name)
		value, err := json.Marshal(list[:min(len(list), mostOutages)]) // shorter than the limit of a part
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
