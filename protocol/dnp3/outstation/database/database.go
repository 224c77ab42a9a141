package database

import (
	"math"
	"slices"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// Record is the current value of a point. It holds no pointers, so that large databases
// cost the garbage collector nothing.
type Record struct {
	bits     uint64  // of the value
	time     uint64  // packed by Stamp
	reported float64 // what events are compared with
	Deadband float64
	Index    uint16
	kind     object.ValueKind
	Class    app.Classes // event class
	Flags    object.Flags
	Static   uint8 // variation numbers
	Event    uint8
	Hidden   bool // not in class 0
}

// Database holds the points, by slot, in ascending order of their index.
type Database struct {
	tables [Slots][]Record
	texts  map[uint32][]byte
}

// Grow makes room for points.
func (d *Database) Grow(s Slot, n int) { d.tables[s] = slices.Grow(d.tables[s], n) }

// NewRecord returns a point of a slot with its first value, in its default variations.
func NewRecord(s Slot, index uint16, initial object.Value) Record {
	return Record{
		bits: initial.Bits(), kind: initial.Kind(), reported: initial.Float(), Index: index, Flags: object.FlagRestart,
		Static: TraitsOf(s).Static.Number(), Event: TraitsOf(s).Event.Number(),
	}
}

// Add adds a point. Sort has to be called after the last one.
func (d *Database) Add(s Slot, r Record) { d.tables[s] = append(d.tables[s], r) }

// Sort puts the points into the order of their indexes. It returns a point that exists twice, false if there is none.
func (d *Database) Sort() (s Slot, index uint16, twice bool) {
	for s := range Slots {
		table := d.tables[s]
		slices.SortFunc(table, func(a, b Record) int { return int(a.Index) - int(b.Index) })
		for i := 1; i < len(table); i++ {
			if table[i].Index == table[i-1].Index {
				return s, table[i].Index, true
			}
		}
	}
	return 0, 0, false
}

// Table returns the points of a slot, in ascending order of their index.
func (d *Database) Table(s Slot) []Record { return d.tables[s] }

// Text returns an octet string, false if it was never set.
func (d *Database) Text(index uint32) ([]byte, bool) {
	text, set := d.texts[index]
	return text, set
}

// SetText stores a copy of an octet string and reports whether that changed it.
func (d *Database) SetText(index uint32, text []byte) bool {
	if string(d.texts[index]) == string(text) {
		return false
	}
	if d.texts == nil {
		d.texts = make(map[uint32][]byte)
	}
	d.texts[index] = append([]byte(nil), text...)
	return true
}

// position returns where the first point with an index of at least index stands.
func position(table []Record, index uint32) int {
	if int(index) < len(table) && table[index].Index == uint16(index) {
		return int(index) // no gaps: the common case
	}
	at, _ := slices.BinarySearchFunc(table, index, func(r Record, i uint32) int { return int(r.Index) - int(i) })
	return at
}

// Find returns a point, nil if there is none.
func (d *Database) Find(s Slot, index uint32) *Record {
	if index > math.MaxUint16 {
		return nil
	}
	table := d.tables[s]
	if at := position(table, index); at < len(table) && table[at].Index == uint16(index) {
		return &table[at]
	}
	return nil
}

// Between returns the positions of the points with indexes from start to stop.
func (d *Database) Between(s Slot, start, stop uint32) (from, to int) {
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

// Assign gives the points that a header names an event class, and returns why it cannot.
func (d *Database) Assign(h app.Header, at Slot, class app.Classes) app.IIN {
	if h.Qualifier.Prefixed() {
		for o := range h.Objects() {
			r := d.Find(at, o.Index)
			if r == nil {
				return app.IINParameterError
			}
			r.Class = class
		}
		return 0
	}
	from, to, ok := d.Span(h, at)
	if !ok {
		return app.IINParameterError
	}
	for i := from; i < to; i++ {
		d.tables[at][i].Class = class
	}
	return 0
}

// Span returns the positions of the points that a header names as all or as a range, false if it names none so.
func (d *Database) Span(h app.Header, at Slot) (from, to int, ok bool) {
	switch {
	case h.Qualifier == app.AllObjects:
		to = len(d.tables[at])
	case h.Qualifier.Ranged():
		from, to = d.Between(at, h.Start, h.Stop)
	}
	return from, to, from != to
}

// Value returns the current value.
func (r *Record) Value() object.Value { return object.ValueOf(r.kind, r.bits) }

// Point returns the current state.
func (r *Record) Point() object.Point {
	return object.Point{Value: r.Value(), Time: Unstamp(r.time), Index: uint32(r.Index), Flags: r.Flags}
}

// unitShift is where a repeating time keeps its unit, above its interval.
const unitShift = 32

// IndexedTime returns the record of a repeating time, which SetTime stored.
func (r *Record) IndexedTime() object.IndexedTime {
	return object.IndexedTime{
		Start: Unstamp(r.time), Interval: uint32(r.bits), Unit: object.IntervalUnit(r.bits >> unitShift),
	}
}

// SetTime stores a repeating time.
func (r *Record) SetTime(t object.IndexedTime) {
	r.bits, r.time = uint64(t.Interval)|uint64(t.Unit)<<unitShift, Stamp(t.Start)
}

// Store stores a new state.
func (r *Record) Store(p *object.Point) {
	r.bits, r.kind, r.Flags, r.time = p.Value.Bits(), p.Value.Kind(), p.Flags, Stamp(p.Time)
}

// SetReported notes the value that an event reports.
func (r *Record) SetReported(v object.Value) { r.reported = v.Float() }

// Exceeds reports whether a value differs from the reported one by more than the dead-band.
func (r *Record) Exceeds(p *object.Point) bool {
	if r.Flags != p.Flags {
		return true
	}
	if r.Deadband == 0 || r.kind == object.NoValue {
		return r.Value() != p.Value
	}
	return !(math.Abs(p.Value.Float()-r.reported) <= r.Deadband)
}

const stampQuality = 56

// Stamp packs a timestamp into 64 bits.
func Stamp(t object.Timestamp) uint64 {
	return min(t.Milliseconds, object.MaxMilliseconds) | uint64(t.Quality)<<stampQuality
}

// Unstamp returns the timestamp that Stamp packed.
func Unstamp(n uint64) object.Timestamp {
	return object.Timestamp{Milliseconds: n & object.MaxMilliseconds, Quality: object.TimeQuality(n >> stampQuality)}
}
