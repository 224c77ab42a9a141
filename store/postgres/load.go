package postgres

import (
	"cmp"
	"slices"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// ref is where a sample stands among the blocks.
type ref struct {
	time  int64 // microseconds
	id    int32
	day   store.Day
	block int32
	at    int32
}

// load is what one Append writes.
type load struct {
	blocks []*point.Block
	all    []ref // by day, point and time, each once
	fresh  []ref // of them those that are newer than all that this store wrote of their points
	late   []ref // the others

	added    map[store.Day]int64 // rows that the table did not have
	newest   map[store.Day]int64 // microseconds
	replaced int64
	// overwritten counts those of replaced that said something else. Of a row that came several times in this Append
	// only the last is compared with the table.
	overwritten int64
}

// sort puts the samples in order and keeps the last of those with one point and time. The caller
// holds write.
func (s *Store) sort(blocks []*point.Block, fresh map[point.Path]int32) load {
	l := load{blocks: blocks, added: make(map[store.Day]int64), newest: make(map[store.Day]int64)}
	n := 0
	for _, b := range blocks {
		n += b.Len()
	}
	l.all = make([]ref, 0, n)
	var ids []int32
	for bi, b := range blocks {
		ids = s.numbers(ids[:0], b.Points, fresh)
		for i, p := range b.Point {
			l.all = append(l.all, ref{time: b.Time[i], id: ids[p], day: store.DayOf(b.Time[i]), block: int32(bi), at: int32(i)})
		}
	}
	slices.SortFunc(l.all, compareRefs)
	kept := l.all[:0]
	for i, r := range l.all {
		if i+1 < len(l.all) && l.all[i+1].id == r.id && l.all[i+1].time == r.time {
			l.replaced++
			if next := l.all[i+1]; l.value(r) != l.value(next) || l.quality(r) != l.quality(next) {
				l.overwritten++
			}
			continue
		}
		kept = append(kept, r)
	}
	l.all = kept
	l.split(s.seen)
	return l
}

func (l *load) value(r ref) point.Value     { return l.blocks[r.block].Value(int(r.at)) }
func (l *load) quality(r ref) point.Quality { return l.blocks[r.block].Quality[r.at] }

func compareRefs(a, b ref) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id), cmp.Compare(a.time, b.time),
		cmp.Compare(a.block, b.block), cmp.Compare(a.at, b.at))
}

// numbers appends the numbers of the points, of which each has one.
func (s *Store) numbers(ids []int32, points []point.Path, fresh map[point.Path]int32) []int32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, p := range points {
		id, ok := s.ids[p]
		if !ok {
			id = fresh[p]
		}
		ids = append(ids, id)
	}
	return ids
}

// split tells the rows that cannot be in the table from those that may be. Days ascend, so the
// rows of a point do too.
func (l *load) split(seen map[int32]int64) {
	isFresh := func(r ref) bool {
		newest, ok := seen[r.id]
		return ok && r.time > newest
	}
	late := 0
	for _, r := range l.all {
		if newest, ok := l.newest[r.day]; !ok || r.time > newest {
			l.newest[r.day] = r.time
		}
		if !isFresh(r) {
			late++
		}
	}
	if late == 0 {
		l.fresh = l.all
		return
	}
	l.fresh, l.late = make([]ref, 0, len(l.all)-late), make([]ref, 0, late)
	for _, r := range l.all {
		if isFresh(r) {
			l.fresh = append(l.fresh, r)
		} else {
			l.late = append(l.late, r)
		}
	}
}

// countFresh counts the rows that were copied straight into the table.
func (l *load) countFresh() {
	for _, r := range l.fresh {
		l.added[r.day]++
	}
}

// span returns the first and the last time of rows.
func span(rows []ref) (first, last time.Time) {
	from, to := rows[0].time, rows[0].time
	for _, r := range rows {
		from, to = min(from, r.time), max(to, r.time)
	}
	return time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC()
}

// remember notes the newest times after the commit.
func (l *load) remember(seen map[int32]int64) {
	for _, r := range l.all {
		if newest, ok := seen[r.id]; !ok || r.time > newest {
			seen[r.id] = r.time
		}
	}
}

// daysOf lists the days of the samples.
func daysOf(blocks []*point.Block) []store.Day {
	days := make(map[store.Day]bool)
	for _, b := range blocks {
		for _, t := range b.Time {
			if d := store.DayOf(t); !days[d] {
				days[d] = true
			}
		}
	}
	out := make([]store.Day, 0, len(days))
	for d := range days {
		out = append(out, d)
	}
	slices.Sort(out)
	return out
}
