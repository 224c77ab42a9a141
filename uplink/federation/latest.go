package federation

import (
	"context"
	"math"
	"time"

	"voltbus/point"
	"voltbus/query"
)

// Latest returns the newest samples, of this node or of those below. Children are asked that have not
// sent all they have, as far as they told, and for points of which nothing is stored here.
func (f *Federation) Latest(ctx context.Context, sel query.Selection) (query.Newest, error) {
	return f.latest(ctx, f.own(), sel, newer{hops: maxHops})
}

// latest asks all children, or only those that are behind, and an engine for what is here.
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
			theirs[p] = len(owners[i]) > 0
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
		if _, err := engine.Latest(ctx, sel); err != nil { // it says which points may be meant
			return query.Newest{}, err
		}
	}
	n.Samples = make([]point.Sample, 0, len(how.found))
	for _, p := range order {
		if s, has := how.found[p]; has {
			n.Samples = append(n.Samples, s)
			delete(how.found, p) // a point that is named twice comes once
		}
	}
	return n, nil
}

// newer is what children are asked for newer samples than.
type newer struct {
	found   map[point.Path]point.Sample
	all     bool
	hops    int
	sources *[]query.Source
	known   map[point.Path]bool // nil, or takes the points that nodes below know
}

// renew puts newer samples of children into what was found: true if there is a point that no node
// knows.
func (f *Federation) renew(ctx context.Context, l children, points []point.Path, n newer) (unknown bool, err error) {
	owners, err := f.of(ctx, l, points)
	if err != nil {
		return false, err
	}
	asks := make([]*ask, len(l))
	for i, p := range points {
		for _, c := range owners[i] {
			if asks[c] == nil {
				asks[c] = &ask{child: l[c]}
			}
			s, has := n.found[p]
			if has && l[c].Online && l[c].sent() && !n.all {
				continue
			}
			asks[c].want(p, s.Time, s.Time)
		}
	}
	var list []*ask
	for _, k := range asks {
		if k != nil {
			list = append(list, k)
		}
	}
	f.askAll(ctx, list, latestTime, &Query{Latest: true, Hops: n.hops - 1})
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

// renew takes newer samples, and notes for the points whether no child that was asked knows them.
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
		for _, s := range k.samples[i] {
			if !has || s.Time.After(own.Time) {
				own, has = s, true
				found[w.Point] = s
				k.given++
			}
		}
	}
}

// tellKnown notes the points that the child knows.
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
	tail, own, err := f.tail(ctx, wanted, time.UnixMicro(math.MinInt64), time.UnixMicro(math.MaxInt64))
	if err != nil {
		return nil, err
	}
	engine := query.New(f.over(tail, nil), f.cfg.Catalog, f.cfg.Limits, f.cfg.Now)
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
	r.Sources = append(n.Sources, own...)
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
