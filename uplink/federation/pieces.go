package federation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/overlay"
)

// pieces is the store combined with descendants' data that is too large to hold at once: they are queried again for some
// points at a time. It serves one query, from one goroutine.
type pieces struct {
	store.Store
	f        *Federation
	children children // those that answered; the others count as away
	wish     childQuery
	came     map[point.Path]int64 // bytes of samples, when all were queried
	asked    map[point.Path]bool
	more     []point.Path    // points with samples that are not in the store
	doubtful map[string]bool // nodes from which something was already missing
	sources  []query.Source  // from which something has been missing since
	strict   bool            // whether that ends the query
}

func (f *Federation) inPieces(l children, w *childQuery, got *found, tail overlay.Samples) *pieces {
	p := &pieces{Store: f.cfg.Store, f: f, wish: *w, came: got.came, asked: got.asked, doubtful: map[string]bool{}}
	for i := range got.sources {
		if s := &got.sources[i]; !s.Whole() {
			p.doubtful[s.Node] = true
		}
	}
	p.children = slices.Clone(l)
	for i := range p.children {
		c := &p.children[i]
		c.Online = c.Online && !p.doubtful[c.Name]
	}
	p.more = paths(tail)
	for path, n := range got.came {
		if n > 0 {
			p.more = append(p.more, path)
		}
	}
	return p
}

// strict ends the query when a node does not answer again. It is for answers that state at the beginning what is missing.
func (w *wider) strict() {
	if w.pieces != nil {
		w.pieces.strict = true
	}
}

// after returns the sources, once everything has been read.
func (w *wider) after() []query.Source {
	if w.pieces == nil {
		return w.sources
	}
	return oncePerNode(append(w.sources, w.pieces.sources...))
}

var (
	errAgain = errors.New("descendants have more samples that are not stored here than this node holds at once, and were asked again for " +
		"some points at a time; one did not answer again; ask again, or for a shorter time or fewer points")
	errGrown = errors.New("descendants have more samples of one point that are not stored here than this node holds at once; " +
		"ask for a shorter time, or with local=true for what is stored here")
)

// each calls do with one group of points after another, and a store that has all their samples.
func (p *pieces) each(ctx context.Context, points []point.Path, do func(s store.Store, from, to int) error) error {
	for from := 0; from < len(points); {
		to, need := from, int64(0)
		for to < len(points) && (to == from || spare(need+p.came[points[to]]) <= p.f.budget.half/2) {
			need += p.came[points[to]]
			to++
		}
		n, err := p.some(ctx, points[from:to], need, func(s store.Store, n int) error { return do(s, from, from+n) })
		if err != nil {
			return err
		}
		from += n
	}
	return nil
}

// some calls do with a store that has all samples of the first points, and returns how many points these are:
// fewer than all if more samples were received than before.
func (p *pieces) some(ctx context.Context, points []point.Path, need int64, do func(s store.Store, n int) error) (int, error) {
	w := p.wish
	w.points = slices.DeleteFunc(slices.Clone(points), func(path point.Path) bool { return p.came[path] == 0 })
	hold, err := p.f.budget.reserve(ctx, spare(need))
	if err != nil {
		return 0, err
	}
	defer hold.end()
	got := &found{}
	if len(w.points) > 0 {
		if got, err = p.f.gather(ctx, p.children, &w, hold); err != nil {
			return 0, err
		}
	}
	if got.much && len(points) > 1 {
		hold.end()
		return p.some(ctx, points[:len(points)/2], p.f.budget.half, do)
	}
	if got.much {
		return 0, fault.E("federation.Ask", fault.Invalid, string(points[0]), errGrown)
	}
	if err := p.judge(got.sources); err != nil {
		return 0, err
	}
	wanted := map[point.Path]bool{}
	for _, path := range points {
		if p.asked[path] {
			wanted[path] = true
		}
	}
	tail, _, err := p.f.own.tail(ctx, wanted, w.from.Add(-w.before), w.to)
	if err != nil {
		return 0, err
	}
	return len(points), do(p.f.own.over(tail, got.given), len(points))
}

// judge records, or fails, if something is missing that was available before.
func (p *pieces) judge(sources []query.Source) error {
	for _, s := range sources {
		if s.Whole() || p.doubtful[s.Node] {
			continue
		}
		if p.strict {
			return fault.E("federation.Ask", fault.Unavailable, s.Node, fmt.Errorf("%w (%s)", errAgain, s.Why))
		}
		s.Samples = 0 // they are already counted
		p.sources = append(p.sources, s)
	}
	return nil
}

// Points implements store.Store.
func (p *pieces) Points(ctx context.Context) ([]point.Path, error) {
	list, err := p.Store.Points(ctx)
	if err != nil {
		return nil, err
	}
	list = slices.Concat(list, p.more)
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Read implements store.Store.
func (p *pieces) Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	return p.each(ctx, r.Points, func(s store.Store, from, to int) error {
		part := r
		part.Points = r.Points[from:to]
		return s.Read(ctx, part, emit)
	})
}

// Aggregate implements store.Store.
func (p *pieces) Aggregate(ctx context.Context, q store.Query) (out []store.Series, err error) {
	err = p.each(ctx, q.Points, func(s store.Store, from, to int) error {
		list, err := s.Aggregate(ctx, some(&q, from, to))
		out = append(out, list...)
		return err
	})
	return out, err
}

// Count implements store.Store.
func (p *pieces) Count(ctx context.Context, q store.Query) (out [][]uint32, err error) {
	err = p.each(ctx, q.Points, func(s store.Store, from, to int) error {
		list, err := s.Count(ctx, some(&q, from, to))
		out = append(out, list...)
		return err
	})
	return out, err
}

// some returns the query for some of its points.
func some(q *store.Query, from, to int) store.Query {
	part := *q
	part.Points = q.Points[from:to]
	if q.Extras.Hold != nil {
		part.Extras.Hold = q.Extras.Hold[from:to]
	}
	return part
}
