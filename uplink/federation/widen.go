package federation

import (
	"context"
	"maps"
	"slices"
	"time"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/overlay"
)

// childQuery is the query to descendants.
type childQuery struct {
	points    []point.Path
	from, to  time.Time
	before    time.Duration // the last sample before from is included if it is not older
	limit     int           // per point if there are too many
	newest    bool
	hops      int // levels that it may still descend
	patience  time.Duration
	functions []query.Function // that determine before
}

// found is the data of descendants.
type found struct {
	given   overlay.Samples
	told    map[point.Path]catalog.Entry // entries of points known to descendants but not here
	unknown map[point.Path]bool          // points that none of the queried nodes knows
	cut     map[point.Path]bool          // points with more than the limit
	asked   map[point.Path]bool          // points that belong, or may belong, to a child
	came    map[point.Path]int64         // bytes of samples
	much    bool                         // there was no room for the samples
	sources []query.Source
}

// wider answers including the data of descendants.
type wider struct {
	*found
	engine *query.Engine
	store  store.Store
	hold   *holding
	pieces *pieces // if there is no room for everything at once
}

// end releases the room of the descendants' data.
func (w *wider) end() {
	if w.hold != nil {
		w.hold.end()
	}
}

// engine answers from a store alone.
func (f *Federation) engine(s store.Store) *query.Engine {
	return query.New(s, f.cfg.Catalog, f.cfg.Limits, f.cfg.Now)
}

// widen queries the descendants for what is missing here for a request, and permits points known only to
// them.
func (f *Federation) widen(ctx context.Context, req *query.Request, w childQuery) (wider, error) {
	alone := wider{found: &found{}, engine: f.engine(f.cfg.Store), store: f.cfg.Store}
	children := f.children(maxHops)
	if len(children) == 0 || !req.From.Before(req.To) || req.Limit < 0 {
		return alone, nil // the engine reports what is wrong
	}
	points, err := alone.engine.Selected(ctx, req.Selection)
	if err != nil {
		return alone, err
	}
	w.points, w.from, w.to, w.limit, w.newest, w.hops = points, req.From, req.To, req.Limit, req.Newest, maxHops
	if w.before, err = f.before(ctx, &w); err != nil {
		return alone, err
	}
	got, hold, err := f.gatherAll(ctx, children, &w)
	if err != nil || len(got.asked) == 0 {
		return alone, err
	}
	tail, unread, err := f.own.tail(ctx, got.asked, w.from.Add(-w.before), w.to)
	if err != nil {
		hold.end()
		return alone, err
	}
	got.sources = append(got.sources, unread...)
	before := req.Elsewhere
	req.Elsewhere = func(p point.Path) bool {
		return (got.asked[p] && !got.unknown[p]) || (before != nil && before(p))
	}
	out := wider{found: got, hold: hold}
	if got.much {
		out.pieces = f.inPieces(children, &w, got, tail)
		out.store = out.pieces
	} else {
		out.store = f.own.over(tail, got.given)
	}
	out.engine = query.New(out.store, wideCatalog{f.cfg.Catalog, got.told}, f.cfg.Limits, f.cfg.Now)
	return out, nil
}

// before returns how long a sample before the period may be in effect.
func (f *Federation) before(ctx context.Context, w *childQuery) (time.Duration, error) {
	if !query.Holds(w.functions) {
		return 0, nil
	}
	entries, err := f.cfg.Catalog.Entries(ctx, w.points)
	return query.Hold(w.functions, entries), err
}

// over returns the store combined with samples that are not in it: those of this node's log, and those of
// descendants, which are newer.
func (o *own) over(tail, given overlay.Samples) store.Store {
	all := overlay.Samples{}
	maps.Copy(all, tail)
	for p, list := range given {
		all[p] = join(all[p], list)
	}
	return overlay.New(o.store, all)
}

// join merges samples in order; at equal times those of later take precedence.
func join(samples, later []point.Sample) []point.Sample {
	switch {
	case len(later) == 0:
		return samples
	case len(samples) == 0:
		return later
	}
	return overlay.Order(append(slices.Clip(samples), later...))
}

// complete adds the descendants' information to an answer.
func (w *wider) complete(a *query.Answer) {
	a.Sources = w.after()
	for i := range a.Series {
		if w.cut[a.Series[i].Info.Path] {
			a.Series[i].Truncated = true
		}
	}
}

// wideCatalog knows points that only descendants know.
type wideCatalog struct {
	query.Catalog
	told map[point.Path]catalog.Entry
}

// Entries implements query.Catalog.
func (c wideCatalog) Entries(ctx context.Context, paths []point.Path) ([]catalog.Entry, error) {
	entries, err := c.Catalog.Entries(ctx, paths)
	if err != nil || len(c.told) == 0 {
		return entries, err
	}
	for i := range entries {
		if told, has := c.told[entries[i].Path]; has && entries[i].FirstSeen.IsZero() {
			entries[i] = told
		}
	}
	return entries, nil
}
