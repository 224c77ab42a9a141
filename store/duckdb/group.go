package duckdb

import (
	"cmp"
	"slices"

	"voltbus/point"
)

// group collects the samples of points that are read together.
type group struct {
	points []point.Path
	slots  []int32  // by point as asked; -1 for a point without samples
	ids    []uint32 // sorted, each once; a slot is an index into it
	lookup lookup
	rows   [][]row // by slot
	marks  []int   // by slot: where the rows of the current part begin
}

// newGroup makes a group of points with their numbers, -1 for unknown ones.
func newGroup(points []point.Path, numbers []int64) *group {
	g := &group{points: points, slots: make([]int32, len(points))}
	for _, n := range numbers {
		if n >= 0 {
			g.ids = append(g.ids, uint32(n))
		}
	}
	slices.Sort(g.ids)
	g.ids = slices.Compact(g.ids)
	g.lookup = newLookup(g.ids)
	for i, n := range numbers {
		g.slots[i] = -1
		if n >= 0 {
			g.slots[i] = g.lookup.slot(uint32(n))
		}
	}
	g.rows = make([][]row, len(g.ids))
	g.marks = make([]int, len(g.ids))
	return g
}

// lookup finds the slot of an id: by a table if the ids lie close together, else by a map.
type lookup struct {
	first uint32
	dense []int32
	far   map[uint32]int32
}

func newLookup(ids []uint32) lookup {
	if len(ids) == 0 {
		return lookup{}
	}
	l := lookup{first: ids[0]}
	if span := int(ids[len(ids)-1]-ids[0]) + 1; span <= 64*len(ids)+4096 {
		l.dense = make([]int32, span)
		for i := range l.dense {
			l.dense[i] = -1
		}
		for i, id := range ids {
			l.dense[id-l.first] = int32(i)
		}
		return l
	}
	l.far = make(map[uint32]int32, len(ids))
	for i, id := range ids {
		l.far[id] = int32(i)
	}
	return l
}

// slot returns the slot of the id, or -1.
func (l *lookup) slot(id uint32) int32 {
	if l.far != nil {
		if s, ok := l.far[id]; ok {
			return s
		}
		return -1
	}
	if i := int(id) - int(l.first); i >= 0 && i < len(l.dense) {
		return l.dense[i]
	}
	return -1
}

// begin starts a part.
func (g *group) begin() {
	for i := range g.rows {
		g.marks[i] = len(g.rows[i])
	}
}

// add takes the sample in the row of a chunk if its point is wanted.
func (g *group) add(id uint32, cols *columns, i int) {
	if slot := g.lookup.slot(id); slot >= 0 {
		g.rows[slot] = append(g.rows[slot], cols.at(i))
	}
}

// tidy sorts the part's rows, which came in the order in which they were stored, keeps the last
// of equal times, and drops bad ones if only good ones are wanted.
func (g *group) tidy(goodOnly bool) {
	for slot, rows := range g.rows {
		own := rows[g.marks[slot]:]
		slices.SortStableFunc(own, func(a, b row) int { return cmp.Compare(a.time, b.time) })
		n := 0
		for i := range own {
			if i+1 < len(own) && own[i+1].time == own[i].time {
				continue
			}
			if goodOnly && own[i].quality.IsBad() {
				continue
			}
			own[n] = own[i]
			n++
		}
		g.rows[slot] = rows[:g.marks[slot]+n]
	}
}

// turn moves the part's rows in front of those read before, when days are read backwards.
func (g *group) turn() {
	for slot, rows := range g.rows {
		if m := g.marks[slot]; m > 0 && m < len(rows) {
			g.rows[slot] = slices.Concat(rows[m:], rows[:m])
		}
	}
}

// trim keeps at most limit rows of each point, the oldest or the newest, and reports whether
// every point has as many.
func (g *group) trim(limit int, newest bool) bool {
	full := true
	for slot, rows := range g.rows {
		switch over := len(rows) - limit; {
		case over < 0:
			full = false
		case newest:
			g.rows[slot] = rows[over:]
		default:
			g.rows[slot] = rows[:limit]
		}
	}
	return full
}

// empty forgets the rows and keeps their memory.
func (g *group) empty() {
	for i := range g.rows {
		g.rows[i] = g.rows[i][:0]
		g.marks[i] = 0
	}
}
