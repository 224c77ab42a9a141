package promql

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store"
)

// querier reads series between two times for the engine. It implements storage.Querier.
type querier struct {
	source
	from, to int64 // milliseconds, both included
}

var _ storage.Querier = (*querier)(nil)

// source is the source of series.
type source struct {
	store  Store
	points Points
}

// entries returns the points that may match.
func (s *source) entries(ctx context.Context, matchers []*labels.Matcher) ([]catalog.Entry, error) {
	f := narrow(matchers)
	f.Limit = maxPoints
	page, err := s.points.Search(ctx, f)
	if err != nil {
		return nil, err
	}
	if page.Next != "" {
		return nil, fault.E("promql.Select", fault.Invalid, "selector", fmt.Errorf(
			"more than %d points may match; name the path or the unit", maxPoints))
	}
	return page.Entries, nil
}

// Select implements storage.Querier.
func (q *querier) Select(ctx context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	entries, err := q.entries(ctx, matchers)
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	chosen := choose(entries, matchers)
	if len(chosen) > maxSeries {
		return storage.ErrSeriesSet(fault.E("promql.Select", fault.Invalid, "selector", fmt.Errorf(
			"%d points match and %d may; name a device, a path or a unit", len(chosen), maxSeries)))
	}
	from, to := q.from, q.to
	if hints != nil {
		from, to = hints.Start, hints.End
	}
	set, err := q.read(ctx, chosen, from, to)
	if err != nil {
		return storage.ErrSeriesSet(err)
	}
	return set
}

// read collects the samples of the series.
func (q *querier) read(ctx context.Context, chosen []series, from, to int64) (*seriesSet, error) {
	set := &seriesSet{at: -1}
	index := make(map[point.Path]*samples, len(chosen))
	r := store.Range{From: time.UnixMilli(from).UTC(), To: time.UnixMilli(to + 1).UTC()}
	for i := range chosen {
		one := &samples{labels: chosen[i].labels, stale: staleAfter(chosen[i].entry.Interval)}
		index[chosen[i].entry.Path] = one
		set.list = append(set.list, one)
		r.Points = append(r.Points, chosen[i].entry.Path)
	}
	total := 0
	err := q.store.Read(ctx, r, set.warn, func(run []point.Sample) error {
		if total += len(run); total > maxSamples {
			return fault.E("promql.Select", fault.Invalid, "samples", fmt.Errorf(
				"the query reads more than %d samples; ask for a shorter time or fewer points", maxSamples))
		}
		for i := range run {
			index[run[i].Point].add(&run[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	set.list = slices.DeleteFunc(set.list, func(s *samples) bool { return len(s.list) == 0 })
	slices.SortFunc(set.list, func(a, b *samples) int { return labels.Compare(a.labels, b.labels) })
	for _, s := range set.list {
		s.end(to)
	}
	return set, nil
}

// staleAfter returns how long a value is valid when no other follows, in milliseconds: three intervals and at
// least five minutes.
func staleAfter(interval time.Duration) int64 {
	return max(5*time.Minute, 3*interval).Milliseconds()
}

// samples are those of one series. They implement storage.Series.
type samples struct {
	labels labels.Labels
	stale  int64 // milliseconds
	list   []reading
}

// add adds the next sample. One that is not a number, or bad, ends the validity of the previous one.
func (s *samples) add(p *point.Sample) {
	at := p.Time.UnixMilli()
	s.end(at)
	v, ok := p.Value.Number()
	if !ok || p.Quality.IsBad() {
		v = math.Float64frombits(value.StaleNaN)
	} else if math.IsNaN(v) {
		v = math.Float64frombits(value.NormalNaN)
	}
	if n := len(s.list); n > 0 && s.list[n-1].at == at {
		s.list[n-1].value = v // Prometheus uses milliseconds: the last sample of one is taken
		return
	}
	s.list = append(s.list, reading{at, v})
}

// end marks where the newest sample ceases to be valid, if that is before a time.
func (s *samples) end(at int64) {
	n := len(s.list)
	if n == 0 || at-s.list[n-1].at <= s.stale || value.IsStaleNaN(s.list[n-1].value) {
		return
	}
	s.list = append(s.list, reading{s.list[n-1].at + s.stale, math.Float64frombits(value.StaleNaN)})
}

// Labels implements storage.Series.
func (s *samples) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *samples) Iterator(chunkenc.Iterator) chunkenc.Iterator {
	return storage.NewListSeriesIterator(s)
}

// Get implements storage.Samples.
func (s *samples) Get(i int) chunks.Sample { return &s.list[i] }

// Len implements storage.Samples.
func (s *samples) Len() int { return len(s.list) }

// seriesSet implements storage.SeriesSet.
type seriesSet struct {
	list     []*samples
	at       int
	warnings annotations.Annotations
}

// warn names the nodes that cause samples to be missing.
func (s *seriesSet) warn(sources []query.Source) {
	for _, node := range sources {
		if !node.Whole() {
			s.warnings.Add(fmt.Errorf("%s is %s: %s", node.Node, node.State, node.Why))
		}
	}
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool { s.at++; return s.at < len(s.list) }

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.list[s.at] }

// Err implements storage.SeriesSet.
func (*seriesSet) Err() error { return nil }

// Warnings implements storage.SeriesSet.
func (s *seriesSet) Warnings() annotations.Annotations { return s.warnings }

// LabelValues implements storage.Querier.
func (q *querier) LabelValues(ctx context.Context, name string, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	values, err := q.labelValues(ctx, name, [][]*labels.Matcher{matchers})
	return values, nil, err
}

// LabelNames implements storage.Querier.
func (q *querier) LabelNames(ctx context.Context, _ *storage.LabelHints, matchers ...*labels.Matcher) ([]string, annotations.Annotations, error) {
	names, err := q.labelNames(ctx, [][]*labels.Matcher{matchers})
	return names, nil, err
}

// Close implements storage.Querier.
func (*querier) Close() error { return nil }
