package outstation

import (
	"fmt"
	"math"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// record is the current value of a point. It holds no pointers, so that large databases
// cost the garbage collector nothing.
type record struct {
	bits     uint64  // of the value
	time     uint64  // packed by stamp
	reported float64 // what events are compared with
	deadband float64
	index    uint16
	kind     object.ValueKind
	class    app.Classes // event class
	flags    object.Flags
	static   uint8 // variation numbers
	event    uint8
	hidden   bool // not in class 0
}

// database holds the points, by slot, in ascending order of their index.
type database struct {
	tables [slots][]record
	texts  map[uint32][]byte
}

func (d *database) load(points []PointConfig) error {
	var counts [slots]int
	for i := range points {
		counts[slotOf(points[i].Kind)]++
	}
	for s, n := range counts {
		if n > 0 {
			d.tables[s] = make([]record, 0, n)
		}
	}
	for i := range points {
		p := &points[i]
		s := slotOf(p.Kind)
		d.tables[s] = append(d.tables[s], newRecord(p, &traitsTable[s]))
		if p.CommandClass != 0 {
			events := PointConfig{Index: p.Index, Class: p.CommandClass, Event: p.CommandEvent}
			at := commandSlot(s)
			d.tables[at] = append(d.tables[at], newRecord(&events, &traitsTable[at]))
		}
	}
	for s := range d.tables {
		table := d.tables[s]
		slices.SortFunc(table, func(a, b record) int { return int(a.index) - int(b.index) })
		for i := 1; i < len(table); i++ {
			if table[i].index == table[i-1].index {
				return fmt.Errorf("outstation: %v %d %w", traitsTable[s].kind, table[i].index, errIndex)
			}
		}
	}
	return nil
}

func newRecord(p *PointConfig, t *traits) record {
	r := record{
		bits: p.Initial.Bits(), kind: p.Initial.Kind(), index: uint16(p.Index), class: p.Class, flags: object.FlagRestart,
		static: t.static.Number(), event: t.event.Number(),
		deadband: p.Deadband, hidden: p.NotInClass0, reported: p.Initial.Float(),
	}
	if p.Static != 0 {
		r.static = p.Static.Number()
	}
	if p.Event != 0 {
		r.event = p.Event.Number()
	}
	return r
}

// position returns where the first point with an index of at least index stands.
func position(table []record, index uint32) int {
	if int(index) < len(table) && table[index].index == uint16(index) {
		return int(index) // no gaps: the common case
	}
	at, _ := slices.BinarySearchFunc(table, index, func(r record, i uint32) int { return int(r.index) - int(i) })
	return at
}

// find returns a point, nil if there is none.
func (d *database) find(s slot, index uint32) *record {
	if index > math.MaxUint16 {
		return nil
	}
	table := d.tables[s]
	if at := position(table, index); at < len(table) && table[at].index == uint16(index) {
		return &table[at]
	}
	return nil
}

// between returns the positions of the points with indexes from start to stop.
func (d *database) between(s slot, start, stop uint32) (from, to int) {
	if start > math.MaxUint16 {
		return 0, 0
	}
	table := d.tables[s]
	from = position(table, start)
	to = len(table)
	if stop < math.MaxUint16 {
		to = position(table, stop+1)
	}
	return from, to
}

// value returns the current value.
func (r *record) value() object.Value { return object.ValueOf(r.kind, r.bits) }

func (r *record) point() object.Point {
	return object.Point{Value: r.value(), Time: unstamp(r.time), Index: uint32(r.index), Flags: r.flags}
}

// unitShift is where a repeating time keeps its unit, above its interval.
const unitShift = 32

// indexedTime returns the record of a repeating time, which setTime stored.
func (r *record) indexedTime() object.IndexedTime {
	return object.IndexedTime{
		Start: unstamp(r.time), Interval: uint32(r.bits), Unit: object.IntervalUnit(r.bits >> unitShift),
	}
}

func (r *record) setTime(t object.IndexedTime) {
	r.bits, r.time = uint64(t.Interval)|uint64(t.Unit)<<unitShift, stamp(t.Start)
}

// exceeds reports whether a value differs from the reported one by more than the dead-band.
func (r *record) exceeds(p *object.Point) bool {
	if r.flags != p.Flags {
		return true
	}
	if r.deadband == 0 || r.kind == object.NoValue {
		return r.value() != p.Value
	}
	return !(math.Abs(p.Value.Float()-r.reported) <= r.deadband)
}

const stampQuality = 56

// stamp packs a timestamp into 64 bits.
func stamp(t object.Timestamp) uint64 {
	return min(t.Milliseconds, object.MaxMilliseconds) | uint64(t.Quality)<<stampQuality
}

func unstamp(n uint64) object.Timestamp {
	return object.Timestamp{Milliseconds: n & object.MaxMilliseconds, Quality: object.TimeQuality(n >> stampQuality)}
}
