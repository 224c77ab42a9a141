// Package row converts samples to rows of the table sample and back, in PostgreSQL's binary format.
package row

import (
	"cmp"
	"slices"
	"time"

	"voltbus/point"
	"voltbus/store"
)

// Ref is the position of a sample in the blocks.
type Ref struct {
	time  int64 // microseconds
	id    int32
	day   store.Day
	block int32
	at    int32
}

// Load is the data that one Append writes.
type Load struct {
	blocks []*point.Block
	All    []Ref // by day, point and time, each once
	Fresh  []Ref // those newer than all samples this store has written for their points
	Late   []Ref // the others

	Added    map[store.Day]int64 // rows that were new to the table
	Newest   map[store.Day]int64 // microseconds
	Replaced int64
	// overwritten counts those of replaced that differed. If a row came several times in this Append only the last
	// is compared with the table.
	Overwritten int64
}

// NewLoad sorts the samples of blocks and keeps the last of those with the same point and time. numbers appends the
// numbers of points, and seen has the newest time written for each number.
func NewLoad(blocks []*point.Block, numbers func(ids []int32, points []point.Path) []int32, seen map[int32]int64) Load {
	l := Load{blocks: blocks, Added: make(map[store.Day]int64), Newest: make(map[store.Day]int64)}
	n := 0
	for _, b := range blocks {
		n += b.Len()
	}
	l.All = make([]Ref, 0, n)
	var ids []int32
	for bi, b := range blocks {
		ids = numbers(ids[:0], b.Points)
		for i, p := range b.Point {
			l.All = append(l.All, Ref{time: b.Time[i], id: ids[p], day: store.DayOf(b.Time[i]), block: int32(bi), at: int32(i)})
		}
	}
	slices.SortFunc(l.All, compareRefs)
	kept := l.All[:0]
	for i, r := range l.All {
		if i+1 < len(l.All) && l.All[i+1].id == r.id && l.All[i+1].time == r.time {
			l.Replaced++
			if next := l.All[i+1]; l.value(r) != l.value(next) || l.quality(r) != l.quality(next) {
				l.Overwritten++
			}
			continue
		}
		kept = append(kept, r)
	}
	l.All = kept
	l.split(seen)
	return l
}

func (l *Load) value(r Ref) point.Value { return l.blocks[r.block].Value(int(r.at)) }

func (l *Load) quality(r Ref) point.Quality { return l.blocks[r.block].Quality[r.at] }

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.id, b.id), cmp.Compare(a.time, b.time),
		cmp.Compare(a.block, b.block), cmp.Compare(a.at, b.at))
}

// split separates rows that cannot be in the table yet from those that may be. Days ascend, and so do the
// rows of a point.
func (l *Load) split(seen map[int32]int64) {
	isFresh := func(r Ref) bool {
		newest, ok := seen[r.id]
		return ok && r.time > newest
	}
	late := 0
	for _, r := range l.All {
		if newest, ok := l.Newest[r.day]; !ok || r.time > newest {
			l.Newest[r.day] = r.time
		}
		if !isFresh(r) {
			late++
		}
	}
	if late == 0 {
		l.Fresh = l.All
		return
	}
	l.Fresh, l.Late = make([]Ref, 0, len(l.All)-late), make([]Ref, 0, late)
	for _, r := range l.All {
		if isFresh(r) {
			l.Fresh = append(l.Fresh, r)
		} else {
			l.Late = append(l.Late, r)
		}
	}
}

// CountFresh counts the rows copied straight into the table.
func (l *Load) CountFresh() {
	for _, r := range l.Fresh {
		l.Added[r.day]++
	}
}

// Span returns the first and the last time of rows.
func Span(rows []Ref) (first, last time.Time) {
	from, to := rows[0].time, rows[0].time
	for _, r := range rows {
		from, to = min(from, r.time), max(to, r.time)
	}
	return time.UnixMicro(from).UTC(), time.UnixMicro(to).UTC()
}

// Remember records the newest times after the commit.
func (l *Load) Remember(seen map[int32]int64) {
	for _, r := range l.All {
		if newest, ok := seen[r.id]; !ok || r.time > newest {
			seen[r.id] = r.time
		}
	}
}

// Days lists the days of the samples.
func Days(blocks []*point.Block) []store.Day {
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
