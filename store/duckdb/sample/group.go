package sample

import (
	"cmp"
	"slices"

	"voltbus/point"
)

// Group collects the samples of points that are read together.
type Group struct {
	Points []point.Path
	Slots  []int32  // by point as requested; -1 for a point without samples
	IDs    []uint32 // sorted, each once; a slot is an index into it
	lookup lookup
	Rows   [][]Row // by slot
	marks  []int   // by slot: beginning of the rows of the current part
}

// NewGroup returns a group of points with their numbers, -1 for unknown ones.
func NewGroup(points []point.Path, numbers []int64) *Group {
	g := &Group{Points: points, Slots: make([]int32, len(points))}
	for _, n := range numbers {
		if n >= 0 {
			g.IDs = append(g.IDs, uint32(n))
		}
	}
	slices.Sort(g.IDs)
	g.IDs = slices.Compact(g.IDs)
	g.find()
	for i, n := range numbers {
		g.Slots[i] = -1
		if n >= 0 {
			g.Slots[i] = g.lookup.slot(uint32(n))
		}
	}
	return g
}

// Of returns a group of sorted numbers.
func Of(ids []uint32) *Group {
	g := &Group{IDs: ids}
	g.find()
	return g
}

// find assigns each number its slot.
func (g *Group) find() {
	g.lookup = newLookup(g.IDs)
	g.Rows = make([][]Row, len(g.IDs))
	g.marks = make([]int, len(g.IDs))
}

// Slot returns the slot of a number, -1 if it is not in the group.
func (g *Group) Slot(id uint32) int32 { return g.lookup.slot(id) }

// lookup finds the slot of an id: with a table if the ids are dense, otherwise with a map.
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

// Begin starts a part.
func (g *Group) Begin() {
	for i := range g.Rows {
		g.marks[i] = len(g.Rows[i])
	}
}

// Add adds the sample in a row of a chunk if its point is wanted.
func (g *Group) Add(id uint32, cols *Columns, i int) {
	if slot := g.lookup.slot(id); slot >= 0 {
		g.Rows[slot] = append(g.Rows[slot], cols.At(i))
	}
}

// Tidy sorts the part's rows, which came in the order in which they were stored, keeps the last
// of equal times, and drops bad ones if only good ones are wanted.
func (g *Group) Tidy(goodOnly bool) {
	for slot, rows := range g.Rows {
		own := rows[g.marks[slot]:]
		slices.SortStableFunc(own, func(a, b Row) int { return cmp.Compare(a.Time, b.Time) })
		n := 0
		for i := range own {
			if i+1 < len(own) && own[i+1].Time == own[i].Time {
				continue
			}
			if goodOnly && own[i].Quality.IsBad() {
				continue
			}
			own[n] = own[i]
			n++
		}
		g.Rows[slot] = rows[:g.marks[slot]+n]
	}
}

// Turn moves the part's rows in front of those read before, when days are read backwards.
func (g *Group) Turn() {
	for slot, rows := range g.Rows {
		if m := g.marks[slot]; m > 0 && m < len(rows) {
			g.Rows[slot] = slices.Concat(rows[m:], rows[:m])
		}
	}
}

// Trim keeps at most limit rows of each point, the oldest or the newest, and reports whether every point has
// that many.
func (g *Group) Trim(limit int, newest bool) bool {
	full := true
	for slot, rows := range g.Rows {
		switch over := len(rows) - limit; {
		case over < 0:
			full = false
		case newest:
			g.Rows[slot] = rows[over:]
		default:
			g.Rows[slot] = rows[:limit]
		}
	}
	return full
}

// Empty removes the rows and keeps their memory.
func (g *Group) Empty() {
	for i := range g.Rows {
		g.Rows[i] = g.Rows[i][:0]
		g.marks[i] = 0
	}
}
