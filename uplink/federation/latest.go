package federation

import (
	"context"

	"voltbus/point"
	"voltbus/query"
)

// Latest returns the newest samples, of this node or its descendants. It queries children that have not sent
// everything, according to their reports, and for points without samples here.
func (f *Federation) Latest(ctx context.Context, sel query.Selection) (query.Newest, error) {
	return f.latest(ctx, f.engine(f.cfg.Store), sel, newer{hops: maxHops})
}

// latest queries all children, or only those with a backlog, and an engine for local data.
func (f *Federation) latest(ctx context.Context, engine *query.Engine, sel query.Selection, how newer) (query.Newest, error) {
	l := f.children(how.hops)
	if len(l) == 0 {
		samples, err := engine.Latest(ctx, sel)
		return query.Newest{Samples: samples}, err
	}
	own := sel
	theirs := map[point.Path]bool{}
	order := sel.Points
	if len(sel.Points) > 0 {
		owners, err := f.of(ctx, l, sel.Points)
		if err != nil {
			return query.Newest{}, err
		}
		for i, p := range sel.Points {
			theirs[p] = owners.theirs[i]
		}
		own.Elsewhere = func(p point.Path) bool { return theirs[p] || (sel.Elsewhere != nil && sel.Elsewhere(p)) }
	}
	samples, err := engine.Latest(ctx, own)
	if err != nil {
		return query.Newest{}, err
	}
	how.found = make(map[point.Path]point.Sample, len(samples))
	for _, s := range samples {
		how.found[s.Point] = s
		if len(sel.Points) == 0 {
			order = append(order, s.Point)
		}
	}
	n := query.Newest{}
	how.sources = &n.Sources
	unknown, err := f.renew(ctx, l, order, how)
	if err != nil {
		return n, err
	}
	if unknown && sel.Elsewhere == nil {
		if _, err := engine.Latest(ctx, sel); err != nil { // it suggests points that may be meant
			return query.Newest{}, err
		}
	}
	n.Samples = make([]point.Sample, 0, len(how.found))
	for _, p := range order {
		if s, has := how.found[p]; has {
			n.Samples = append(n.Samples, s)
			delete(how.found, p) // a point named twice is returned once
		}
	}
	return n, nil
}

// newer holds the samples for which children are queried for newer ones.
type newer struct {
	found   map[point.Path]point.Sample
	all     bool
	hops    int
	sources *[]query.Source
	known   map[point.Path]bool // nil, or collects the points that descendants know

	children children
	points   []point.Path
}

// renew merges newer samples of children into the result; true if there is a point that no node knows.
func (f *Federation) renew(ctx context.Context, l children, points []point.Path, n newer) (unknown bool, err error) {
	owners, err := f.of(ctx, l, points)
	if err != nil {
		return false, err
	}
	n.children, n.points = l, points
	list, err := f.askNewest(ctx, owners, &n)
	if err != nil {
		return false, err
	}
	doubt := map[point.Path]bool{}
	for _, k := range list {
		k.renew(n.found, doubt)
		k.tellKnown(n.known)
		*n.sources = append(*n.sources, k.sources()...)
	}
	*n.sources = oncePerNode(*n.sources)
	for _, is := range doubt {
		unknown = unknown || is
	}
	return unknown, nil
}

// askNewest queries newer samples, and again, when its turn has come, if there is no room for them now.
func (f *Federation) askNewest(ctx context.Context, owners *owners, n *newer) ([]*ask, error) {
	if err := f.budget.wait(ctx, f.budget.pairs, int64(owners.pairs)); err != nil {
		return nil, err
	}
	defer f.budget.pairs.Release(int64(owners.pairs))
	hold := f.budget.hold()
	asks := n.ask(ctx, f, owners, hold)
	if !hold.full() {
		return asks, nil
	}
	need := int64(0)
	for _, k := range asks {
		for _, came := range k.part.came {
			need += came.octets
		}
	}
	hold, err := f.budget.reserve(ctx, spare(need))
	if err != nil {
		return nil, err
	}
	asks = n.ask(ctx, f, owners, hold)
	for _, k := range asks {
		if k.part.lost() {
			k.reply, k.err = nil, errBusy
		}
	}
	return asks, nil
}

// ask queries newer samples. It releases what it held: the relevant part becomes the answer.
func (n *newer) ask(ctx context.Context, f *Federation, owners *owners, hold *holding) []*ask {
	defer hold.end()
	asks := owners.asks(n.children, hold)
	for i, p := range n.points {
		s, has := n.found[p]
		for _, c := range owners.of[i] {
			if child := &n.children[c]; has && child.Online && child.sent() && !n.all {
				continue
			}
			asks[c].want(p, s.Time, s.Time)
		}
	}
	asks = present(asks)
	f.asker.all(ctx, asks, latestTime, &Query{Latest: true, Hops: n.hops - 1})
	return asks
}

// renew merges newer samples, and records which points none of the queried children knows.
func (k *ask) renew(found map[point.Path]point.Sample, unknown map[point.Path]bool) {
	for i, w := range k.points {
		own, has := found[w.Point]
		if k.reply == nil {
			unknown[w.Point] = false
			continue
		}
		told := k.reply.Points[i]
		before, judged := unknown[w.Point]
		unknown[w.Point] = !has && told.Unknown && !told.Refused && (before || !judged)
		for _, s := range k.part.samples[i] {
			if !has || s.Time.After(own.Time) {
				own, has = s, true
				found[w.Point] = s
				k.given++
			}
		}
	}
}

// tellKnown records the points that the child knows.
func (k *ask) tellKnown(known map[point.Path]bool) {
	if known == nil || k.reply == nil {
		return
	}
	for i, w := range k.points {
		if !k.reply.Points[i].Unknown {
			known[w.Point] = true
		}
	}
}

// newestBelow answers a query for the newest samples.
func (f *Federation) newestBelow(ctx context.Context, q *Query, here map[point.Path]int, r *Reply) ([][]point.Sample, error) {
	wanted := make(map[point.Path]bool, len(here))
	for p := range here {
		wanted[p] = true
	}
	tail, unread, err := f.own.newestTail(ctx, wanted)
	if err != nil {
		return nil, err
	}
	engine := f.engine(f.own.over(tail, nil))
	known := map[point.Path]bool{}
	n, err := f.latest(ctx, engine, selection(here), newer{hops: q.Hops, all: true, known: known})
	if err != nil {
		return nil, err
	}
	entries, err := f.cfg.Catalog.Entries(ctx, paths(here))
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if p := entries[i].Path; known[p] || !entries[i].FirstSeen.IsZero() {
			r.Points[here[p]].Unknown = false
		}
	}
	r.Sources = append(n.Sources, unread...)
	samples := make([][]point.Sample, len(q.Points))
	for _, s := range n.Samples {
		at := here[s.Point]
		r.Points[at].Unknown = false
		if s.Time.UnixMicro() > q.Points[at].From && (len(samples[at]) == 0 || s.Time.After(samples[at][0].Time)) {
			samples[at] = []point.Sample{s}
		}
	}
	return samples, nil
}
