package day

import (
	"cmp"
	"fmt"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// SQL returns a query for the day's samples, each point and time once.
func (s *Files) SQL(d *Day) string {
	both := s.StoredSQL(d)
	if !d.Disordered || d.Table == "" {
		return "SELECT " + sample.FileColumns + " FROM (" + both + ")"
	}
	return "SELECT " + sample.FileColumns + " FROM (" + both + ") QUALIFY row_number() OVER (PARTITION BY id, time ORDER BY origin DESC, place DESC) = 1"
}

// StoredSQL returns a query for all samples stored for the day, with their position in that order.
func (s *Files) StoredSQL(d *Day) string {
	table := ""
	if d.Table != "" {
		table = d.RowsSQL()
	}
	file := ""
	if d.File != "" {
		file = fmt.Sprintf("SELECT %s, 0 AS origin, 0 AS place FROM read_parquet(%s)", sample.FileColumns, engine.Quote(s.path(d.File)))
	}
	if table != "" && file != "" {
		return file + " UNION ALL " + table
	}
	return table + file
}

// RowsSQL returns a query for the samples of the day's table, with their position among those of the day, in
// the columns of a file.
func (d *Day) RowsSQL() string {
	text, join := "NULL::VARCHAR", ""
	if d.Texts > 0 {
		text = "w.text"
		join = " LEFT JOIN " + cmp.Or(d.shownWords, sample.WordTable(d.Table)) + " w ON w.number = t.value AND (t.tag & 255) = 4"
	}
	if d.shown != "" {
		return fmt.Sprintf("SELECT "+sample.Decoded+", 1 AS origin, t.place AS place FROM %s t%s WHERE t.place < %d", text, d.shown, join, d.Stored)
	}
	return fmt.Sprintf("SELECT "+sample.Decoded+", 1 AS origin, t.rowid AS place FROM %s t%s WHERE t.rowid < %d", text, d.Table, join, d.Stored)
}

// ReadFrom returns a day whose rows and texts are not read from its tables.
func (d *Day) ReadFrom(rows, words string) *Day {
	out := *d
	out.shown, out.shownWords = rows, words
	return &out
}
