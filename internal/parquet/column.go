package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
)

// kind is the type of a column.
type kind struct {
	physical  int
	converted int // -1 for none
	logical   func(*record)
}

// The types of Apache Parquet that there are here.
var (
	text = kind{6, 0, func(r *record) { r.within(1, func() {}) }} //nolint:gochecknoglobals,mnd // a table of the standard's numbers
	time = kind{2, 10, func(r *record) {                          //nolint:gochecknoglobals,mnd // as above
		r.within(8, func() { //nolint:mnd // TIMESTAMP
			r.truth(1) // in UTC
			r.within(2, func() { r.within(2, func() {}) })
		})
	}}
	double = kind{5, -1, nil} //nolint:gochecknoglobals,mnd // as above
	int64s = kind{2, -1, nil} //nolint:gochecknoglobals,mnd // as above
)

// Column is one column. Each row has one value, or none.
type Column struct {
	name     string
	kind     kind
	optional bool

	present []uint32 // for each row of the group, whether it has a value
	none    int
	values  []byte // of those that have one

	// Texts are numbered: values is what the numbers stand for.
	number  map[string]uint32
	last    string
	lastOf  uint32
	indexes []uint32

	least, most []byte // of the group; nil if there is no value, or no order
}

// None adds no value.
func (c *Column) None() {
	c.present = append(c.present, 0)
	c.none++
}

func (c *Column) some() {
	if c.optional {
		c.present = append(c.present, 1)
	}
}

// Text adds a text.
func (c *Column) Text(v string) {
	c.some()
	if len(c.indexes) == 0 || v != c.last {
		n, known := c.number[v]
		if !known {
			n = uint32(len(c.number))
			c.number[v] = n
			c.values = binary.LittleEndian.AppendUint32(c.values, uint32(len(v)))
			c.values = append(c.values, v...)
			c.bound([]byte(v))
		}
		c.last, c.lastOf = v, n
	}
	c.indexes = append(c.indexes, c.lastOf)
}

// Int adds a whole number, or microseconds since 1970 in UTC.
func (c *Column) Int(v int64) {
	c.some()
	c.values = binary.LittleEndian.AppendUint64(c.values, uint64(v))
	if c.least == nil || v < at(c.least) {
		c.least = binary.LittleEndian.AppendUint64(c.least[:0], uint64(v))
	}
	if c.most == nil || v > at(c.most) {
		c.most = binary.LittleEndian.AppendUint64(c.most[:0], uint64(v))
	}
}

func at(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// Float adds a number.
func (c *Column) Float(v float64) {
	c.some()
	c.values = binary.LittleEndian.AppendUint64(c.values, math.Float64bits(v))
}

func (c *Column) bound(v []byte) {
	if c.least == nil || bytes.Compare(v, c.least) < 0 {
		c.least = v
	}
	if c.most == nil || bytes.Compare(v, c.most) > 0 {
		c.most = v
	}
}

// longBound is the length from which on a bound costs more than it helps.
const longBound = 256

// bounds returns the least and the largest value of the group; nil if they are not told.
func (c *Column) bounds() (least, most []byte) {
	if len(c.least) > longBound || len(c.most) > longBound {
		return nil, nil
	}
	return c.least, c.most
}

func (c *Column) reset() {
	c.present, c.none, c.values, c.indexes, c.least, c.most = c.present[:0], 0, c.values[:0], c.indexes[:0], nil, nil
	clear(c.number)
}

// levels appends which rows have a value.
func (c *Column) levels(b []byte) []byte {
	if !c.optional {
		return b
	}
	const length = 4
	from := len(b)
	b = appendHybrid(append(b, make([]byte, length)...), c.present, 1)
	binary.LittleEndian.PutUint32(b[from:], uint32(len(b)-from-length))
	return b
}
