package query

import (
	"context"
	"slices"
	"time"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/store"
)

// Steps for counting samples, to determine how many of them are extra.
const (
	tallySteps = 240            // per range
	tallyLong  = 48 * time.Hour // a longer range is counted in hours, which a store knows for closed days
)

// stepOf returns the length of n steps between two times.
func stepOf(from, to time.Time, n int) time.Duration {
	return max(time.Microsecond, (to.Sub(from)/time.Duration(n) + time.Microsecond).Truncate(time.Microsecond))
}

// tallyStep returns the longest step in which the samples of a range are counted: within a longer one, surplus
// samples would hide missing ones, and code that counts in other steps would disagree.
func tallyStep(from, to time.Time) time.Duration {
	if to.Sub(from) > tallyLong {
		return time.Hour
	}
	return stepOf(from, to, tallySteps)
}

// tally counts the samples of one series.
type tally struct {
	present, bad int64
	extra        int64 // those of present that no interval expects
	first        time.Time
}

func newTally(samples []point.Sample, e *catalog.Entry) tally {
	var t tally
	steady := newPace(e.Interval)
	for i := range samples {
		if samples[i].Quality.IsBad() {
			t.bad++
			continue
		}
		t.present++
		switch {
		case e.Interval <= 0:
		case samples[i].Time.Before(e.Since):
			t.extra++
		default:
			t.extra += 1 - steady.one(samples[i].Time)
		}
	}
	if len(samples) > 0 {
		t.first = samples[0].Time
	}
	return t
}

// tallyAll counts by a query's buckets for each entry or, if its steps are too long to tell which samples are extra,
// by shorter ones.
func tallyAll(ctx context.Context, e *Engine, entries []*catalog.Entry, list []store.Series, q *store.Query) ([]tally, error) {
	now, short, widest := e.now(), tallyStep(q.From, q.To), widestStep(q)
	tallies := make([]tally, len(entries))
	var again []int // indices of entries counted in shorter steps
	var paths []point.Path
	for i, entry := range entries {
		tallies[i] = tallyBuckets(list[i].Buckets, q, entry, now)
		if widest > max(short, entry.Interval) && entry.Interval > 0 && tallies[i].present > 0 {
			again, paths = append(again, i), append(paths, entry.Path)
		}
	}
	if len(again) == 0 {
		return tallies, nil
	}
	pieces, err := countPieces(ctx, e.store, paths, q.From, q.To)
	if err != nil {
		return nil, err
	}
	for j, i := range again {
		t := &tallies[i]
		from, to := lifetime(entries[i], q.From, q.To, t.first, now)
		steady, there := newPace(entries[i].Interval), int64(0)
		for k := range pieces {
			there += pieces[k].of(j).between(&steady, later(from, pieces[k].from), earlier(to, pieces[k].to))
		}
		t.extra = t.present - there
	}
	return tallies, nil
}

// widestStep returns the length of a query's longest step.
func widestStep(q *store.Query) time.Duration {
	widest := q.Step
	for i := range max(0, len(q.Edges)-1) {
		widest = max(widest, q.Edges[i+1].Sub(q.Edges[i]))
	}
	return widest
}

// piece holds the counts of several points in a part of a range.
type piece struct {
	from, to time.Time
	step     time.Duration
	lists    [][]uint32
}

func (p *piece) of(i int) counts { return counts{p.from, p.step, p.lists[i]} }

// countPieces counts the samples of a range in short steps. A long range is split at its first and last whole hour.
func countPieces(ctx context.Context, s store.Store, paths []point.Path, from, to time.Time) ([]piece, error) {
	pieces := []piece{{from: from, to: to, step: tallyStep(from, to)}}
	if pieces[0].step == time.Hour {
		first, last := from.Add(time.Hour-1).Truncate(time.Hour), to.Truncate(time.Hour)
		most := max(1, maxCells/len(paths)) // hours counted per point; if there are more, several at once
		step := time.Hour * (last.Sub(first)/time.Hour/time.Duration(most) + 1)
		pieces = []piece{{from: from, to: first, step: time.Hour}, {from: first, to: last, step: step}, {from: last, to: to, step: time.Hour}}
		pieces = slices.DeleteFunc(pieces, func(p piece) bool { return !p.from.Before(p.to) })
	}
	for i := range pieces {
		p := &pieces[i]
		var err error
		p.lists, err = s.Count(ctx, store.Query{Range: store.Range{Points: paths, From: p.from, To: p.to}, Step: p.step})
		if err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

// tallyBuckets counts by a query's buckets.
func tallyBuckets(buckets []store.Bucket, q *store.Query, entry *catalog.Entry, now time.Time) tally {
	var t tally
	for i := range buckets {
		t.present += int64(buckets[i].Count)
		t.bad += int64(buckets[i].Bad)
		if t.first.IsZero() {
			t.first = buckets[i].FirstTime
		}
	}
	if entry.Interval <= 0 {
		return t
	}
	from, to := lifetime(entry, q.From, q.To, t.first, now)
	steady, counted := newPace(entry.Interval), int64(0)
	for i := range buckets {
		b := &buckets[i]
		counted += steady.step(later(b.Start, from), earlier(bucketEnd(q, b), to), int64(b.Count)-early(b, entry))
	}
	t.extra = t.present - counted
	return t
}

// bucketEnd returns the end of a bucket of the query.
func bucketEnd(q *store.Query, b *store.Bucket) time.Time {
	if i, ok := slices.BinarySearchFunc(q.Edges, b.Start, time.Time.Compare); ok && i+1 < len(q.Edges) {
		return q.Edges[i+1]
	}
	return b.Start.Add(q.Step)
}

// early returns how many samples of the bucket count as older than the setting of the entry's interval. In a
// bucket that spans that time, as many as the interval expects do not.
func early(b *store.Bucket, e *catalog.Entry) int64 {
	count := int64(b.Count)
	switch {
	case e.Interval <= 0 || !b.FirstTime.Before(e.Since):
		return 0
	case b.LastTime.Before(e.Since):
		return count
	}
	return count - min(count, int64(b.LastTime.Sub(e.Since)/e.Interval)+1)
}
