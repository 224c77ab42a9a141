package arrowstream

import (
	"encoding/binary"
	"math"
)

// kind is the type of a column.
type kind int

const (
	utf8      kind = iota // text
	timestamp             // microseconds since 1970, UTC
	float64s
	int64s
	uint8s
)

// column is the values of one field in a batch, in the layout of Arrow: a validity bit per row, then the values; for
// text, preceded by the offsets at which each ends ("Arrow Columnar Format", Physical Memory Layout).
type column struct {
	name     string
	kind     kind
	nullable bool

	rows    int
	nulls   int
	valid   []byte // least significant bit first
	offsets []byte
	data    []byte
}

// mark notes whether the next row has a value.
func (c *column) mark(valid bool) {
	if c.nullable {
		if c.rows%8 == 0 {
			c.valid = append(c.valid, 0)
		}
		if valid {
			c.valid[c.rows/8] |= 1 << (c.rows % 8)
		}
	}
	if !valid {
		c.nulls++
	}
	c.rows++
}

func (c *column) appendText(s string) {
	c.mark(true)
	c.data = append(c.data, s...)
	c.endText()
}

// endText notes where the text of a row ends. The first offset is where the first text begins.
func (c *column) endText() {
	if len(c.offsets) == 0 {
		c.offsets = binary.LittleEndian.AppendUint32(c.offsets, 0)
	}
	c.offsets = binary.LittleEndian.AppendUint32(c.offsets, uint32(len(c.data)))
}

func (c *column) appendInt(n int64) {
	c.mark(true)
	c.data = binary.LittleEndian.AppendUint64(c.data, uint64(n))
}

func (c *column) appendFloat(f float64) {
	c.mark(true)
	c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(f))
}

func (c *column) appendByte(b byte) {
	c.mark(true)
	c.data = append(c.data, b)
}

// appendNull adds a row without a value to a column of text or of 8 bytes a row.
func (c *column) appendNull() {
	c.mark(false)
	if c.kind == utf8 {
		c.endText()
		return
	}
	c.data = append(c.data, 0, 0, 0, 0, 0, 0, 0, 0)
}

// buffers returns the column as sent. Without nulls the validity bits may be left out.
func (c *column) buffers() [][]byte {
	valid := c.valid
	if c.nulls == 0 {
		valid = nil
	}
	if c.kind == utf8 {
		return [][]byte{valid, c.offsets, c.data}
	}
	return [][]byte{valid, c.data}
}

// reset makes the column empty and keeps its memory for the next batch.
func (c *column) reset() {
	c.rows, c.nulls = 0, 0
	c.valid, c.offsets, c.data = c.valid[:0], c.offsets[:0], c.data[:0]
}
