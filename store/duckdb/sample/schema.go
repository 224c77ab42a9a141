// Package sample defines how samples are stored in the tables and files of a day: columns, the encoding of values and texts, and how
// samples are written and collected per point. It knows no days and no state of a store.
package sample

import (
	"context"
	"strings"

	"voltbus/store/duckdb/engine"
)

// FileColumns are the columns of a day's file without the point's name.
const FileColumns = "id, time, value, exact, text, kind, quality"

// NumberColumns are those of them that an aggregation needs.
const NumberColumns = "id, time, value, kind, quality"

// TableColumns are the columns of a day's table. Few columns without nulls take half the time of a file's
// columns, mainly because of the text column.
const TableColumns = "id, time, value, tag"

// CreateTable creates the table of a day and that of its texts.
func CreateTable(ctx context.Context, c *engine.Conn, table string) error {
	if err := c.Exec(ctx, "CREATE TABLE "+table+"(id UINTEGER, time TIMESTAMP, value DOUBLE, tag UINTEGER)"); err != nil {
		return err
	}
	return c.Exec(ctx, "CREATE TABLE "+WordTable(table)+"(number UBIGINT, text VARCHAR)")
}

// DropTable removes what CreateTable created, if it exists.
func DropTable(ctx context.Context, c *engine.Conn, table string) error {
	if err := c.Exec(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
		return err
	}
	return c.Exec(ctx, "DROP TABLE IF EXISTS "+WordTable(table))
}

// Where returns the conditions as SQL, "" for none.
func Where(where []string) string {
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}
