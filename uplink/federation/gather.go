package federation

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store/overlay"
)

// gatherAll queries the children for samples of the points that are not stored here, and again, when its turn has come, if
// there is no room for all of them now. If there never is, the result has no samples, only their numbers.
func (f *Federation) gatherAll(ctx context.Context, l children, w *childQuery) (*found, *holding, error) {
	hold := f.budget.hold()
	got, err := f.gather(ctx, l, w, hold)
	if err != nil || !got.much {
		return got, hold, err // after an error nothing is held
	}
	need := int64(0)
	for _, n := range got.came {
		need += n
	}
	if spare(need) > f.budget.half {
		return got, hold, nil
	}
	if hold, err = f.budget.reserve(ctx, spare(need)); err != nil {
		return nil, nil, err
	}
	if got, err = f.gather(ctx, l, w, hold); err != nil {
		hold.end()
	}
	return got, hold, err
}

// gather queries the children for samples of the points that are not stored here. If there is no room for all of
// them, the result has no samples, only their numbers.
func (f *Federation) gather(ctx context.Context, l children, w *childQuery, hold *holding) (*found, error) {
	got := &found{
		given: overlay.Samples{}, told: map[point.Path]catalog.Entry{}, unknown: map[point.Path]bool{},
		cut: map[point.Path]bool{}, asked: map[point.Path]bool{}, came: map[point.Path]int64{},
	}
	owners, err := f.of(ctx, l, w.points)
	if err != nil {
		return nil, err
	}
	if err := f.budget.wait(ctx, f.budget.pairs, int64(owners.pairs)); err != nil {
		return nil, err
	}
	defer f.budget.pairs.Release(int64(owners.pairs))
	newest, err := f.newest(ctx, w.points, owners)
	if err != nil {
		return nil, err
	}
	asks := owners.asks(l, hold)
	for i, p := range w.points {
		if owners.theirs[i] {
			got.asked[p] = true
		}
		for _, c := range owners.of[i] {
			asks[c].from, asks[c].to = w.from, w.to
			here, has := newest[p]
			if has && !here.Before(w.to) && l[c].sent() {
				continue // it has sent everything for this period
			}
			asks[c].want(p, w.from, here)
		}
	}
	asks = present(asks)
	f.asker.all(ctx, asks, w.patience, &Query{
		To: w.to.UnixMicro(), Before: w.before.Microseconds(), Limit: w.limit, Newest: w.newest, Hops: w.hops - 1,
	})
	for _, k := range asks {
		k.put(got)
		got.sources = append(got.sources, k.sources()...)
	}
	got.sources = oncePerNode(got.sources)
	if got.much = hold.full(); got.much {
		got.given = overlay.Samples{}
		hold.end()
	}
	return got, nil
}

// newest returns the times of the newest samples stored here for the children's points.
func (f *Federation) newest(ctx context.Context, points []point.Path, owners *owners) (map[point.Path]time.Time, error) {
	var theirs []point.Path
	for i, p := range points {
		if owners.theirs[i] {
			theirs = append(theirs, p)
		}
	}
	if len(theirs) == 0 {
		return nil, nil
	}
	samples, err := f.cfg.Store.Latest(ctx, theirs)
	if err != nil {
		return nil, err
	}
	out := make(map[point.Path]time.Time, len(theirs))
	for i := range samples {
		if samples[i].Point != "" {
			out[theirs[i]] = samples[i].Time
		}
	}
	return out, nil
}

// put adds the child's data.
func (k *ask) put(got *found) {
	if k.reply == nil {
		return
	}
	for i := range k.points {
		p, told := k.points[i].Point, &k.reply.Points[i]
		if told.Unknown && !told.Refused && k.part.came[i].samples == 0 {
			if _, known := got.told[p]; !known {
				got.unknown[p] = true
			}
			continue
		}
		delete(got.unknown, p)
		if _, known := got.told[p]; !known {
			got.told[p] = told.entry(p)
		}
		got.cut[p] = got.cut[p] || told.Cut
		got.given[p] = join(got.given[p], k.part.samples[i])
		got.came[p] += k.part.came[i].octets
		k.given += k.part.came[i].samples
	}
}

// severity orders the states of sources: worse is greater.
func severity(s *query.Source) int {
	return slices.Index([]string{
		query.SourceStored, query.SourceAsked, query.SourceRefused, query.SourceFailed, query.SourceLate, query.SourceUnreachable,
	}, s.State)
}

// oncePerNode merges the sources of each node: the worst of them, for the whole period.
func oncePerNode(list []query.Source) []query.Source {
	at := map[string]int{}
	var out []query.Source
	for _, s := range list {
		i, has := at[s.Node]
		if !has {
			at[s.Node] = len(out)
			out = append(out, s)
			continue
		}
		a, b := out[i], s
		if severity(&b) > severity(&a) {
			a, b = b, a
		}
		a.Samples += b.Samples
		if a.State != query.SourceStored && b.State != query.SourceStored {
			a.From, a.To = earliest(a.From, b.From), latest(a.To, b.To)
		}
		out[i] = a
	}
	return out
}

// earliest returns the earlier time; nil is the beginning.
func earliest(a, b *time.Time) *time.Time {
	if a == nil || b == nil {
		return nil
	}
	if b.Before(*a) {
		return b
	}
	return a
}

// latest returns the later time; nil is the newest.
func latest(a, b *time.Time) *time.Time {
	if a == nil || b == nil {
		return nil
	}
	if b.After(*a) {
		return b
	}
	return a
}

// entry returns the catalogue entry of a point described by a child. Nonsensical values are ignored.
func (t *PointReply) entry(p point.Path) catalog.Entry {
	e := catalog.Entry{Info: point.Info{Path: p, Unit: t.Unit}}
	if t.Interval > 0 && t.Interval <= longest.Microseconds() {
		e.Interval = time.Duration(t.Interval) * time.Microsecond
	}
	e.Kind, _ = point.ParseKind(t.Kind) // an unknown one counts as varying
	e.FirstSeen, e.Since, e.Removed = told(t.FirstSeen), told(t.Since), told(t.Removed)
	return e
}

// longest is how long an interval can be.
const longest = math.MaxInt64 * time.Nanosecond

// told converts a time from a child; zero if its year has more than four digits.
func told(micros int64) time.Time {
	if t := instant(micros); t.Year() >= 1 && t.Year() <= 9999 {
		return t
	}
	return time.Time{}
}

func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// paths returns the keys in their order.
func paths[T any](m map[point.Path]T) []point.Path { return slices.Sorted(maps.Keys(m)) }
