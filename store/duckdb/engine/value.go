package engine

import (
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"
)

// Kind returns what the statement does. Text with more than one statement, or none, is of kind Multi.
func (c *Conn) Kind(statement string) (duck.StatementType, error) {
	var all duck.ExtractedStatements
	n := duck.ExtractStatements(c.conn, statement, &all)
	defer duck.DestroyExtracted(&all)
	if n == 0 {
		if text := duck.ExtractStatementsError(all); text != "" {
			return 0, &Error{Type: errorType(text), Text: text}
		}
	}
	if n != 1 || strings.ContainsRune(statement, 0) {
		return duck.StatementTypeMulti, nil
	}
	var stmt duck.PreparedStatement
	state := duck.PrepareExtractedStatement(c.conn, all, 0, &stmt)
	defer duck.DestroyPrepare(&stmt)
	if state != duck.StateSuccess {
		text := duck.PrepareError(stmt)
		return 0, &Error{Type: errorType(text), Text: text}
	}
	return duck.PreparedStatementType(stmt), nil
}

// Parse returns the syntax error of an invalid SQL text.
func (c *Conn) Parse(statement string) error {
	var all duck.ExtractedStatements
	n := duck.ExtractStatements(c.conn, statement, &all)
	defer duck.DestroyExtracted(&all)
	if text := duck.ExtractStatementsError(all); n == 0 && text != "" {
		return &Error{Type: errorType(text), Text: text}
	}
	return nil
}

// Kind returns what the statement does.
func (s *Stmt) Kind() duck.StatementType { return duck.PreparedStatementType(s.stmt) }

// Columns returns the names of the statement's columns.
func (s *Stmt) Columns() []string {
	names := make([]string, duck.PreparedStatementColumnCount(s.stmt))
	for i := range names {
		names[i] = duck.PreparedStatementColumnName(s.stmt, duck.IdxT(i))
	}
	return names
}

// Types returns the types of the statement's columns.
func (s *Stmt) Types() []duck.Type {
	types := make([]duck.Type, duck.PreparedStatementColumnCount(s.stmt))
	for i := range types {
		types[i] = duck.PreparedStatementColumnType(s.stmt, duck.IdxT(i))
	}
	return types
}

// Readable reports whether Value knows the types of all columns.
func (s *Stmt) Readable() bool {
	for _, t := range s.Types() {
		if !Readable(t) {
			return false
		}
	}
	return true
}

// Readable reports whether Value knows the type.
func Readable(t duck.Type) bool {
	switch t {
	case duck.TypeBoolean, duck.TypeTinyInt, duck.TypeSmallInt, duck.TypeInteger, duck.TypeBigInt,
		duck.TypeUTinyInt, duck.TypeUSmallInt, duck.TypeUInteger, duck.TypeFloat, duck.TypeDouble,
		duck.TypeTimestamp, duck.TypeTimestampTZ, duck.TypeVarchar, duck.TypeSQLNull:
		return true
	}
	return false
}

// Value returns one value of a type that is Readable: nil, bool, int64, float64, time.Time or
// string.
func (c *Chunk) Value(column, row int, t duck.Type) any {
	if t == duck.TypeSQLNull || !c.Valid(column).Has(row) {
		return nil
	}
	switch t {
	case duck.TypeBoolean:
		return Numbers[bool](c, column)[row]
	case duck.TypeFloat:
		return float64(Numbers[float32](c, column)[row])
	case duck.TypeDouble:
		return Numbers[float64](c, column)[row]
	case duck.TypeTimestamp, duck.TypeTimestampTZ:
		return Time(Numbers[int64](c, column)[row])
	case duck.TypeVarchar:
		return c.Texts(column).At(row)
	}
	return c.integer(column, row, t)
}

func (c *Chunk) integer(column, row int, t duck.Type) int64 {
	switch t {
	case duck.TypeTinyInt:
		return int64(Numbers[int8](c, column)[row])
	case duck.TypeSmallInt:
		return int64(Numbers[int16](c, column)[row])
	case duck.TypeInteger:
		return int64(Numbers[int32](c, column)[row])
	case duck.TypeUTinyInt:
		return int64(Numbers[uint8](c, column)[row])
	case duck.TypeUSmallInt:
		return int64(Numbers[uint16](c, column)[row])
	case duck.TypeUInteger:
		return int64(Numbers[uint32](c, column)[row])
	}
	return Numbers[int64](c, column)[row]
}
