package federation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"voltbus/catalog"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
	"voltbus/store/overlay"
	"voltbus/wire"
)

// Answer answers the parent's query with a Reply, as far as the grants let it read.
func (f *Federation) Answer(ctx context.Context, g *identity.Grants, body []byte) ([]byte, error) {
	q, err := parseQuery(body)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(q.Time*float64(time.Second)))
	defer cancel()
	r := &Reply{Points: make([]PointReply, len(q.Points))}
	here := f.named(q, g, r)
	samples := make([][]point.Sample, len(q.Points))
	if len(here) > 0 {
		answer := f.missingAbove
		if q.Latest {
			answer = f.newestBelow
		}
		samples, err = answer(ctx, q, here, r)
		if errors.Is(err, errLarge) {
			return json.Marshal(&Reply{Large: true})
		}
		if err != nil {
			return nil, err
		}
	}
	e, has := f.encoders.Get().(*wire.Encoder)
	if !has {
		e = new(wire.Encoder)
	}
	defer f.encoders.Put(e)
	if err := r.pack(e, samples); err != nil {
		return nil, err
	}
	return json.Marshal(r)
}

// named returns the local paths of the readable points, and which wanted points they are.
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
	if !slices.ContainsFunc(r.Points, func(t PointReply) bool { return t.Refused }) {
		r.Missing = ""
	}
	return here
}

func selection(here map[point.Path]int) query.Selection {
	return query.Selection{Points: paths(here), Elsewhere: func(point.Path) bool { return true }}
}

// errLarge: the parent asks again for less.
var errLarge = errors.New("more samples than fit into one answer")

// missing is the state of answering a query.
type missing struct {
	*Federation
	q        *Query
	here     map[point.Path]int
	from, to time.Time
	got      *found
	store    store.Store    // including what is not in it yet
	unread   []query.Source // this node, if it causes something to be missing
	room     room
	bounded  bool // the limit applies, since everything would be too much
}

// missingAbove returns the samples that the parent does not have: for points that are sent, those in the log
// after what the parent reported to have, for others all, and in both cases those of descendants.
func (f *Federation) missingAbove(ctx context.Context, q *Query, here map[point.Path]int, r *Reply) ([][]point.Sample, error) {
	m := &missing{Federation: f, q: q, here: here, from: instant(q.Points[0].From), to: time.UnixMicro(q.To)}
	for _, w := range q.Points {
		if from := time.UnixMicro(w.From); from.Before(m.from) {
			m.from = from
		}
	}
	w := childQuery{
		points: paths(here), from: m.from, to: m.to, before: time.Duration(q.Before) * time.Microsecond,
		limit: q.Limit, newest: q.Newest, hops: q.Hops, patience: MaxTime,
	}
	got, hold, err := f.gatherAll(ctx, f.children(q.Hops), &w)
	if err != nil {
		return nil, err
	}
	defer hold.end()
	if m.got = got; got.much {
		return nil, errLarge
	}
	samples, err := m.all(ctx, r)
	if errors.Is(err, errLarge) && q.Limit > 0 && !m.bounded {
		m.bounded = true
		samples, err = m.all(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	r.Sources = slices.Concat(m.got.sources, m.unread)
	return samples, m.know(ctx, samples, r)
}

// all returns the samples of each wanted point.
func (m *missing) all(ctx context.Context, r *Reply) ([][]point.Sample, error) {
	m.room = room{samples: maxSamples, texts: maxTexts}
	begin := m.from.Add(-time.Duration(m.q.Before) * time.Microsecond)
	sent, kept := map[point.Path]bool{}, map[point.Path]bool{}
	for p := range m.here {
		if m.cfg.Sent(p) {
			sent[p] = true
		} else {
			kept[p] = true
		}
	}
	unsent, whole, err := m.own.scan(ctx, m.cfg.Place(), &backlog{wanted: sent, from: begin.UnixMicro(), to: m.to.UnixMicro(), bound: m.pruning()})
	if err != nil {
		return nil, err
	}
	if !whole {
		r.Rough = true
		for p := range sent {
			kept[p] = true
		}
	}
	var tail overlay.Samples
	tail, m.unread, err = m.own.tail(ctx, kept, begin, m.to)
	if err != nil {
		return nil, err
	}
	m.store = m.own.over(tail, m.got.given)
	out := make([][]point.Sample, len(m.q.Points))
	for _, p := range paths(m.here) {
		var list []point.Sample
		if kept[p] {
			if list, err = m.read(ctx, p, sent[p]); err != nil {
				return nil, err
			}
			list = join(unsent[p], list)
		} else {
			list = join(unsent[p], m.got.given[p])
		}
		at := m.here[p]
		if list, err = m.bound(at, list, r); err != nil {
			return nil, err
		}
		out[at] = join(out[at], list)
		r.Points[at].Cut = r.Points[at].Cut || m.got.cut[p]
	}
	return out, nil
}

// read returns samples of a point out of the store; newer means that the parent has the older ones.
func (m *missing) read(ctx context.Context, p point.Path, newer bool) ([]point.Sample, error) {
	w := &m.q.Points[m.here[p]]
	from := time.UnixMicro(w.From)
	if newer {
		from = time.UnixMicro(max(w.From, w.Have))
	}
	var list []point.Sample
	left := room{m.room.samples + 1, m.room.texts} // one more reveals that there are more
	take := func(run []point.Sample) error {
		if !left.take(run) {
			return errLarge
		}
		list = append(list, run...)
		return nil
	}
	if m.q.Before > 0 && !newer {
		before := store.Range{Points: []point.Path{p}, From: from.Add(-time.Duration(m.q.Before) * time.Microsecond), To: from, Limit: 1, Newest: true}
		if err := m.store.Read(ctx, before, take); err != nil {
			return nil, err
		}
	}
	if !from.Before(m.to) {
		return list, nil
	}
	r := store.Range{Points: []point.Path{p}, From: from, To: m.to}
	if m.bounded {
		r.Limit, r.Newest = m.q.Limit+1, m.q.Newest // one more reveals that there are more
	}
	return list, m.store.Read(ctx, r, take)
}

// bound omits samples of a wanted point that were not requested, or exceed the limit.
func (m *missing) bound(at int, list []point.Sample, r *Reply) ([]point.Sample, error) {
	from := time.UnixMicro(m.q.Points[at].From)
	inside, _ := slices.BinarySearchFunc(list, from, func(s point.Sample, t time.Time) int { return s.Time.Compare(t) })
	if inside > 0 && m.q.Before > 0 {
		inside-- // the last one before
	}
	list = list[inside:]
	if m.bounded && len(list) > m.q.Limit {
		r.Points[at].Cut = true
		if m.q.Newest {
			list = list[len(list)-m.q.Limit:]
		} else {
			list = list[:m.q.Limit]
		}
	}
	if !m.room.take(list) {
		return nil, errLarge
	}
	return list, nil
}

// know sets what is known about the points. Those that a descendant that did not answer may know count as
// known.
func (m *missing) know(ctx context.Context, samples [][]point.Sample, r *Reply) error {
	doubtful := slices.ContainsFunc(m.got.sources, func(s query.Source) bool { return !s.Whole() })
	list := paths(m.here)
	entries, err := wideCatalog{m.cfg.Catalog, m.got.told}.Entries(ctx, list)
	if err != nil {
		return err
	}
	newest, err := m.store.Latest(ctx, list)
	if err != nil {
		return err
	}
	for i := range entries {
		at := m.here[list[i]]
		if doubtful || !entries[i].FirstSeen.IsZero() || newest[i].Point != "" || len(samples[at]) > 0 {
			r.Points[at].tell(&entries[i])
		}
	}
	return nil
}

// tell writes what the catalogue knows, unless another path of the point provided more.
func (t *PointReply) tell(e *catalog.Entry) {
	t.Unknown = false
	if t.FirstSeen != 0 || e.FirstSeen.IsZero() {
		return
	}
	t.Unit, t.Kind, t.Interval = e.Unit, e.Kind.String(), e.Interval.Microseconds()
	t.FirstSeen, t.Since, t.Removed = micros(e.FirstSeen), micros(e.Since), micros(e.Removed)
}
