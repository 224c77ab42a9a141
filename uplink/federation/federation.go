// Package federation completes answers about the history with what the nodes below have and did not
// send yet: it asks the children on whose points the answer is for what is newer than what is stored
// here, and says of each how that went. The package is given functions that ask, and knows no bus.
package federation

import (
	"context"
	"slices"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/query"
)

// Engine answers from this node's own store, as package query does.
type Engine interface {
	Latest(ctx context.Context, sel query.Selection) ([]point.Sample, error)
	Range(ctx context.Context, req query.Request) (query.Answer, error)
}

// Child is a node below this one.
type Child struct {
	Name    string
	Prefix  point.Path // its points lie below; "" for anywhere: it is not asked
	Online  bool
	Away    time.Time // since when it is not connected; zero: unknown
	Waiting uint64    // samples that it said it has not sent yet
}

// Config is what a Federation needs. All must be there; functions are safe for concurrent use.
type Config struct {
	Engine   Engine
	Newest   func(ctx context.Context, paths []point.Path) ([]point.Sample, error) // stored here; a zero Sample for none
	Children func() []Child
	// Ask has a child answer a Query: fault.Unreachable, at once, if it is not connected.
	Ask func(ctx context.Context, child string, body []byte) ([]byte, error)
	// Below returns the paths here that lie at a path at the parent.
	Below func(at point.Path) []point.Path
}

// Federation answers with what nodes below have. It has no state and is safe for concurrent use. Its
// errors are those of its Engine: what goes wrong elsewhere stands in the sources of the answer.
type Federation struct{ cfg Config }

// New returns a federation. It starts nothing.
func New(cfg Config) *Federation { return &Federation{cfg: cfg} }

// Range returns the samples of a range, with those that nodes below have and this one does not.
func (f *Federation) Range(ctx context.Context, req query.Request) (query.Answer, error) {
	return f.ranged(ctx, req, maxHops)
}

// Latest returns the newest samples, of this node or of those below.
func (f *Federation) Latest(ctx context.Context, sel query.Selection) (query.Newest, error) {
	return f.latest(ctx, sel, maxHops)
}

// places returns the children by the place of their points.
func (f *Federation) places(hops int, named []point.Path) places {
	if hops == 0 {
		return nil
	}
	var list places
	for _, c := range f.cfg.Children() {
		if c.Prefix != "" {
			list = append(list, c)
		}
	}
	if len(named) > 0 && !slices.ContainsFunc(named, func(p point.Path) bool { return list.of(p) >= 0 }) {
		return nil
	}
	return list
}

// places are children with prefixes.
type places []Child

// of returns the child below whose prefix the point lies; -1 for none.
func (l places) of(p point.Path) int {
	best := -1
	for i := range l {
		prefix := l[i].Prefix
		if rest, below := strings.CutPrefix(string(p), string(prefix)); below && strings.HasPrefix(rest, "/") &&
			(best < 0 || len(prefix) > len(l[best].Prefix)) {
			best = i
		}
	}
	return best
}

// elsewhere lets an engine not know the points of children.
func (l places) elsewhere(before func(point.Path) bool) func(point.Path) bool {
	return func(p point.Path) bool { return l.of(p) >= 0 || (before != nil && before(p)) }
}

func (f *Federation) ranged(ctx context.Context, req query.Request, hops int) (query.Answer, error) {
	children := f.places(hops, req.Points)
	if len(children) == 0 {
		return f.cfg.Engine.Range(ctx, req)
	}
	own := req
	own.Elsewhere = children.elsewhere(req.Elsewhere)
	a, err := f.cfg.Engine.Range(ctx, own)
	if err != nil {
		return a, err
	}
	asks, err := f.behind(ctx, children, &a, &req)
	if err != nil {
		return a, err
	}
	f.askAll(ctx, asks, Query{To: req.To.UnixMicro(), Limit: req.Limit, Newest: req.Newest, Hops: hops - 1})
	unknown := false
	for _, k := range asks {
		for i, at := range k.places {
			unknown = k.put(&a, i, at, &req) || unknown
		}
		a.Sources = append(a.Sources, k.sources()...)
	}
	if unknown && req.Elsewhere == nil {
		if _, err := f.cfg.Engine.Range(ctx, req); err != nil { // it says which points may be meant
			return query.Answer{}, err
		}
	}
	return a, nil
}

// behind returns what is asked of which child: what is newer than what is stored here.
func (f *Federation) behind(ctx context.Context, children places, a *query.Answer, req *query.Request) ([]*ask, error) {
	asks := make([]*ask, len(children))
	var paths []point.Path
	var owners, series []int
	for i := range a.Series {
		if c := children.of(a.Series[i].Info.Path); c >= 0 {
			paths, owners, series = append(paths, a.Series[i].Info.Path), append(owners, c), append(series, i)
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	newest, err := f.cfg.Newest(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		c, s := owners[i], &a.Series[series[i]]
		if asks[c] == nil {
			asks[c] = &ask{child: children[c], to: req.To}
		}
		stored := newest[i].Point != "" && !newest[i].Time.Before(req.To) && children[c].Waiting == 0
		if stored || (req.Limit > 0 && !req.Newest && len(s.Samples) >= req.Limit) {
			continue
		}
		from := req.From
		if n := len(s.Samples); n > 0 {
			from = s.Samples[n-1].Time
		}
		asks[c].want(path, from, series[i])
	}
	return slices.DeleteFunc(asks, func(k *ask) bool { return k == nil }), nil
}

// put adds what the child gave of a point to its series: true if neither node knows the point.
func (k *ask) put(a *query.Answer, i, at int, req *query.Request) (unknown bool) {
	s := &a.Series[at]
	if k.reply == nil {
		return false
	}
	told := k.reply.Points[i]
	strange := unlisted(&s.Info) && len(s.Samples) == 0
	if strange && told.Unknown && !told.Refused {
		return len(k.samples[i]) == 0
	}
	if strange {
		s.Info.Unit = told.Unit
		s.Info.Kind, _ = point.ParseKind(told.Kind)
	}
	all, added := merge(s.Samples, k.samples[i])
	all, cut := limited(all, req.Limit, req.Newest)
	s.Truncated = s.Truncated || cut || told.Cut
	k.added += len(added)
	if len(added) > 0 {
		a.Put(at, all, added)
	}
	return false
}

func (f *Federation) latest(ctx context.Context, sel query.Selection, hops int) (query.Newest, error) {
	children := f.places(hops, sel.Points)
	own := sel
	if len(children) > 0 {
		own.Elsewhere = children.elsewhere(sel.Elsewhere)
	}
	samples, err := f.cfg.Engine.Latest(ctx, own)
	n := query.Newest{Samples: samples}
	if err != nil || len(children) == 0 {
		return n, err
	}
	found := map[point.Path]point.Sample{}
	order := sel.Points
	for _, s := range samples {
		found[s.Point] = s
		if len(sel.Points) == 0 {
			order = append(order, s.Point)
		}
	}
	asks := newer(children, order, found)
	f.askAll(ctx, asks, Query{Latest: true, Hops: hops - 1})
	unknown := false
	for _, k := range asks {
		unknown = k.renew(found) || unknown
		n.Sources = append(n.Sources, k.sources()...)
	}
	if unknown && sel.Elsewhere == nil {
		if _, err := f.cfg.Engine.Latest(ctx, sel); err != nil { // it says which points may be meant
			return query.Newest{}, err
		}
	}
	n.Samples = make([]point.Sample, 0, len(found))
	for _, p := range order {
		if s, has := found[p]; has {
			n.Samples = append(n.Samples, s)
			delete(found, p) // a point that is named twice comes once
		}
	}
	return n, nil
}

// newer returns what is asked of which child: samples newer than those that were found.
func newer(children places, points []point.Path, found map[point.Path]point.Sample) []*ask {
	asks := make([]*ask, len(children))
	for i, p := range points {
		c := children.of(p)
		if c < 0 {
			continue
		}
		if asks[c] == nil {
			asks[c] = &ask{child: children[c]}
		}
		asks[c].want(p, found[p].Time, i)
	}
	return slices.DeleteFunc(asks, func(k *ask) bool { return k == nil })
}

// renew puts newer samples into what was found: true if there is a point that neither node knows.
func (k *ask) renew(found map[point.Path]point.Sample) (unknown bool) {
	if k.reply == nil {
		return false
	}
	for i, w := range k.points {
		own, has := found[w.Point]
		if t := k.reply.Points[i]; !has && t.Unknown && !t.Refused {
			unknown = true
		}
		for _, s := range k.samples[i] {
			if !has || s.Time.After(own.Time) {
				own, has = s, true
				found[w.Point] = s
				k.added++
			}
		}
	}
	return unknown
}
