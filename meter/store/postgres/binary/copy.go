// Package binary writes rows in the form of COPY BINARY, and reads values in PostgreSQL's binary form.
package binary

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// header begins data for COPY BINARY: its name, no flags, no extension.
const header = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// The types of elements of arrays, as PostgreSQL numbers them.
const (
	int2   = 21
	int4   = 23
	float8 = 701
)

// Rows are rows in the form of COPY BINARY. The zero Rows is empty and ready for use.
type Rows struct {
	buf []byte
	n   int
}

// Len returns how many rows there are.
func (r *Rows) Len() int { return r.n }

// Begin begins a row of so many columns, which follow in order.
func (r *Rows) Begin(columns int) {
	if r.n == 0 {
		r.buf = append(r.buf[:0], header...)
	}
	r.n++
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(columns))
}

// Reset empties the rows and keeps their memory.
func (r *Rows) Reset() { r.buf, r.n = r.buf[:0], 0 }

// Reader returns what COPY reads.
func (r *Rows) Reader() io.Reader { return bytes.NewReader(append(r.buf, 0xff, 0xff)) }

func (r *Rows) size(n int) { r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(n)) }

// Null writes NULL.
func (r *Rows) Null() { r.size(-1) }

// Int2 writes a smallint.
func (r *Rows) Int2(v int16) {
	r.size(2)
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(v))
}

// Int4 writes an integer.
func (r *Rows) Int4(v int32) {
	r.size(4)
	r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(v))
}

// Int8 writes a bigint.
func (r *Rows) Int8(v int64) {
	r.size(8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, uint64(v))
}

// Float8 writes a double precision.
func (r *Rows) Float8(v float64) {
	r.size(8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, math.Float64bits(v))
}

// Text writes a text.
func (r *Rows) Text(s string) {
	r.size(len(s))
	r.buf = append(r.buf, s...)
}

// Bytes writes a bytea.
func (r *Rows) Bytes(b []byte) {
	r.size(len(b))
	r.buf = append(r.buf, b...)
}

// array begins an array of so many elements, some of which may be NULL, and returns where its size stands.
func (r *Rows) array(kind uint32, n int, nulls bool) (at int) {
	at = len(r.buf)
	r.size(0)
	dimensions, flags := uint32(1), uint32(0)
	if n == 0 {
		dimensions = 0
	}
	if nulls {
		flags = 1
	}
	for _, v := range []uint32{dimensions, flags, kind} {
		r.buf = binary.BigEndian.AppendUint32(r.buf, v)
	}
	if n > 0 {
		r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(n))
		r.buf = binary.BigEndian.AppendUint32(r.buf, 1)
	}
	return at
}

func (r *Rows) end(at int) { binary.BigEndian.PutUint32(r.buf[at:], uint32(len(r.buf)-at-4)) }

// Int2s writes a smallint[].
func (r *Rows) Int2s(list []int16) {
	at := r.array(int2, len(list), false)
	for _, v := range list {
		r.Int2(v)
	}
	r.end(at)
}

// Int4s writes an integer[].
func (r *Rows) Int4s(list []int32) {
	at := r.array(int4, len(list), false)
	for _, v := range list {
		r.Int4(v)
	}
	r.end(at)
}

// Float8s writes a double precision[].
func (r *Rows) Float8s(list []float64) {
	at := r.array(float8, len(list), false)
	for _, v := range list {
		r.Float8(v)
	}
	r.end(at)
}
