package engine

import (
	"strings"
	"time"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// Chunk is up to 2,048 rows of a result, column by column.
type Chunk struct {
	Rows  int
	chunk duck.DataChunk
}

func newChunk(c duck.DataChunk) *Chunk {
	return &Chunk{Rows: int(duck.DataChunkGetSize(c)), chunk: c}
}

// Columns returns the number of columns.
func (c *Chunk) Columns() int { return int(duck.DataChunkGetColumnCount(c.chunk)) }

// Number is an element of a fixed-width column.
type Number interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Numbers returns a fixed-width column; T must be as wide as the column's type. It is valid as long as the
// chunk.
func Numbers[T Number](c *Chunk, column int) []T {
	v := duck.DataChunkGetVector(c.chunk, duck.IdxT(column))
	return unsafe.Slice((*T)(duck.VectorGetData(v)), c.Rows)
}

// Valid tells which rows of a column have a value.
type Valid []uint64

// Has reports whether the row has a value.
func (v Valid) Has(row int) bool { return v == nil || v[row>>6]&(1<<(row&63)) != 0 }

// Valid returns which rows of the column have a value.
func (c *Chunk) Valid(column int) Valid {
	v := duck.DataChunkGetVector(c.chunk, duck.IdxT(column))
	p := (*uint64)(duck.VectorGetValidity(v))
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, (c.Rows+63)/64)
}

// Texts is a column of strings, valid as long as its chunk.
type Texts []textValue

// textValue is DuckDB's string: up to 12 bytes are inline, longer ones are referenced by the pointer in the
// last 8 bytes.
type textValue struct {
	length uint32
	inside [4]byte
	rest   uint64
}

// Texts returns a column of strings.
func (c *Chunk) Texts(column int) Texts {
	v := duck.DataChunkGetVector(c.chunk, duck.IdxT(column))
	return unsafe.Slice((*textValue)(duck.VectorGetData(v)), c.Rows)
}

// At returns a copy of the string in the row.
func (t Texts) At(row int) string { return strings.Clone(t.View(row)) }

// View returns the string in the row without a copy, valid as long as the chunk.
func (t Texts) View(row int) string {
	s := &t[row]
	if s.length <= 12 {
		return unsafe.String(&s.inside[0], s.length)
	}
	return unsafe.String(*(**byte)(unsafe.Pointer(&s.rest)), s.length)
}

// Time returns a timestamp column's value as a time.
func Time(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
