package engine

import (
	"errors"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// ChunkRows is the number of rows that an Appender takes at once.
const ChunkRows = 2048

// Appender adds rows to a table, column by column, within the connection's transaction.
type Appender struct {
	appender duck.Appender
	chunk    duck.DataChunk
	columns  []duck.Vector
	types    []duck.LogicalType
}

// Appender opens an appender for the table with columns of the given types. Close must be called.
func (c *Conn) Appender(table string, types ...duck.Type) (*Appender, error) {
	a := &Appender{}
	if duck.AppenderCreate(c.conn, "main", table, &a.appender) != duck.StateSuccess {
		err := a.err()
		duck.AppenderDestroy(&a.appender)
		return nil, err
	}
	for _, t := range types {
		a.types = append(a.types, duck.CreateLogicalType(t))
	}
	a.chunk = duck.CreateDataChunk(a.types)
	for i := range types {
		a.columns = append(a.columns, duck.DataChunkGetVector(a.chunk, duck.IdxT(i)))
	}
	return a, nil
}

// Column returns the memory of a fixed-width column, ChunkRows long, to be filled before Append. Call it
// again after each Append.
func Column[T Number](a *Appender, column int) []T {
	return unsafe.Slice((*T)(duck.VectorGetData(a.columns[column])), ChunkRows)
}

// Nulls makes all rows of the column null and returns its mask: a set bit makes the row valid.
func (a *Appender) Nulls(column int) []uint64 {
	duck.VectorEnsureValidityWritable(a.columns[column])
	mask := unsafe.Slice((*uint64)(duck.VectorGetValidity(a.columns[column])), ChunkRows/64)
	clear(mask)
	return mask
}

// Text sets a row of a column of strings.
func (a *Appender) Text(column, row int, text string) {
	duck.VectorAssignStringElement(a.columns[column], duck.IdxT(row), text)
}

// Append adds the first rows of the chunk to the table and empties the chunk.
func (a *Appender) Append(rows int) error {
	duck.DataChunkSetSize(a.chunk, duck.IdxT(rows))
	if duck.AppendDataChunk(a.appender, a.chunk) != duck.StateSuccess {
		return a.err()
	}
	duck.DataChunkReset(a.chunk)
	return nil
}

// Flush makes the rows visible to the connection's transaction.
func (a *Appender) Flush() error {
	if duck.AppenderFlush(a.appender) != duck.StateSuccess {
		return a.err()
	}
	return nil
}

// Close frees the appender. Rows that were not flushed before may be lost.
func (a *Appender) Close() {
	duck.AppenderDestroy(&a.appender)
	duck.DestroyDataChunk(&a.chunk)
	for i := range a.types {
		duck.DestroyLogicalType(&a.types[i])
	}
}

func (a *Appender) err() error {
	text := duck.AppenderError(a.appender)
	if text == "" {
		return errors.New("the appender gave no reason")
	}
	return &Error{Type: errorType(text), Text: text}
}
