package federation

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
)

// Answer answers the parent's query, as far as the grants let it read: a Reply.
func (f *Federation) Answer(ctx context.Context, g *identity.Grants, body []byte) ([]byte, error) {
	q, err := parseQuery(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(q.Time*float64(time.Second)))
	defer cancel()
	r := &Reply{Points: make([]Told, len(q.Points))}
	here := f.named(q, g, r)
	samples := make([][]point.Sample, len(q.Points))
	if len(here) > 0 {
		if q.Latest {
			err = f.newestBelow(ctx, q, here, r, samples)
		} else {
			err = f.rangeBelow(ctx, q, here, r, samples)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := f.know(ctx, here, r); err != nil {
		return nil, err
	}
	if err := r.pack(samples); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// named returns the paths here of the points that may be read, and which wanted ones they are.
func (f *Federation) named(q *Query, g *identity.Grants, r *Reply) map[point.Path]int {
	here := map[point.Path]int{}
	for i, w := range q.Points {
		r.Points[i].Unknown = true
		for _, path := range f.cfg.Below(w.Point) {
			if err := g.MayRead(path); err != nil {
				r.Points[i].Refused = true
				if r.Missing == "" {
					r.Missing = identity.MissingOf(err)
				}
				continue
			}
			here[path] = i
		}
	}
	for _, i := range here {
		r.Points[i].Refused = false
	}
	if !slices.ContainsFunc(r.Points, func(t Told) bool { return t.Refused }) {
		r.Missing = ""
	}
	return here
}

func selection(here map[point.Path]int) query.Selection {
	sel := query.Selection{Elsewhere: func(point.Path) bool { return true }}
	for path := range here {
		sel.Points = append(sel.Points, path)
	}
	slices.Sort(sel.Points)
	return sel
}

func (f *Federation) rangeBelow(ctx context.Context, q *Query, here map[point.Path]int, r *Reply, samples [][]point.Sample) error {
	from, same := q.Points[0].From, true
	for _, w := range q.Points {
		same = same && w.From == from
		from = min(from, w.From)
	}
	req := query.Request{Selection: selection(here), From: time.UnixMicro(from), To: time.UnixMicro(q.To), Limit: q.Limit, Newest: q.Newest}
	if !same && !q.Newest {
		req.Limit = 0 // the oldest of all may be some that are not asked for
	}
	a, err := f.ranged(ctx, req, q.Hops)
	if err != nil {
		return err
	}
	r.Sources = a.Sources
	for i := range a.Series {
		s := &a.Series[i]
		at := here[s.Info.Path]
		old, begin := &r.Points[at], time.UnixMicro(q.Points[at].From)
		list := slices.DeleteFunc(s.Samples, func(s point.Sample) bool { return s.Time.Before(begin) })
		old.Cut = old.Cut || s.Truncated
		if len(list) > 0 || !unlisted(&s.Info) {
			old.Unknown, old.Unit, old.Kind = false, s.Info.Unit, s.Info.Kind.String()
		}
		samples[at], _ = merge(samples[at], list)
	}
	for at := range samples {
		var cut bool
		samples[at], cut = limited(samples[at], q.Limit, q.Newest)
		r.Points[at].Cut = r.Points[at].Cut || cut
	}
	return nil
}

func (f *Federation) newestBelow(ctx context.Context, q *Query, here map[point.Path]int, r *Reply, samples [][]point.Sample) error {
	n, err := f.latest(ctx, selection(here), q.Hops)
	if err != nil {
		return err
	}
	r.Sources = n.Sources
	for _, s := range n.Samples {
		at := here[s.Point]
		r.Points[at].Unknown = false
		if s.Time.UnixMicro() > q.Points[at].From && (len(samples[at]) == 0 || s.Time.After(samples[at][0].Time)) {
			samples[at] = []point.Sample{s}
		}
	}
	return nil
}

// know notes the points that exist without samples in the answer: those of which something is stored
// here, and those that a node below may know that could not say so.
func (f *Federation) know(ctx context.Context, here map[point.Path]int, r *Reply) error {
	doubtful := slices.ContainsFunc(r.Sources, func(s query.Source) bool { return !s.Whole() })
	var paths []point.Path
	for path, i := range here {
		if doubtful {
			r.Points[i].Unknown = false
		}
		if r.Points[i].Unknown {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	newest, err := f.cfg.Newest(ctx, paths)
	if err != nil {
		return err
	}
	for i, s := range newest {
		if s.Point != "" {
			r.Points[here[paths[i]]].Unknown = false
		}
	}
	return nil
}

// unlisted reports whether nothing is known of the point but its path.
func unlisted(i *point.Info) bool {
	return i.Kind == 0 && i.Unit == "" && i.Device == "" && i.Interval == 0
}

// merge returns the samples of both in time order, and those of other that were added: own ones count
// at the same time.
func merge(own, other []point.Sample) (all, added []point.Sample) {
	for _, s := range other {
		if _, has := slices.BinarySearchFunc(own, s.Time, func(o point.Sample, t time.Time) int { return o.Time.Compare(t) }); !has {
			added = append(added, s)
		}
	}
	if len(added) == 0 {
		return own, nil
	}
	all = slices.Concat(own, added)
	slices.SortStableFunc(all, func(a, b point.Sample) int { return a.Time.Compare(b.Time) })
	return all, added
}

// limited cuts samples to the oldest or newest ones.
func limited(samples []point.Sample, limit int, newest bool) (kept []point.Sample, cut bool) {
	switch {
	case limit == 0 || len(samples) <= limit:
		return samples, false
	case newest:
		return samples[len(samples)-limit:], true
	}
	return samples[:limit], true
}
