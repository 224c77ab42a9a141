package duckdb

import (
	"context"
	"strconv"
	"strings"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// day is where the samples of one UTC day are: in a file, in a table, or in both when some came
// late. A day is never changed but replaced, so that a reader may keep it.
type day struct {
	key        store.Day
	file       string // name in the directory "days"; "" if there is none
	rows       uint64 // in the file
	bytes      int64  // of the file
	checksum   uint64 // of the file, XXH3
	table      string // "" if there is none
	stored     uint64 // rows in the table
	texts      uint64 // rows in the table of texts that belongs to it
	disordered bool   // the table holds samples that are not newer than all before of their point
	// overwritten counts samples of the table that took the place of the newest one of their point with another
	// value. All others are found when the day is closed.
	overwritten uint64
	generation  uint32 // counts the tables and files that the day has had
	shown       string // what its rows are read from, if not from the table; with the columns of the table and place
	shownWords  string // and its texts
}

// nextTable returns the name of the table that the day gets when samples arrive.
func (d *day) nextTable() string {
	return "day_" + strings.ReplaceAll(d.key.String(), "-", "") + "_" + strconv.FormatUint(uint64(d.generation)+1, 10)
}

// nextFile returns the name of the file that the day gets when it is closed.
func (d *day) nextFile() string {
	if d.file == "" {
		return d.key.String() + ".parquet"
	}
	return d.key.String() + "." + strconv.FormatUint(uint64(d.generation)+1, 10) + ".parquet"
}

// empty reports whether the day holds nothing.
func (d *day) empty() bool { return d.file == "" && d.table == "" }

// saveDay writes the day's row in the manifest, within the connection's transaction.
func saveDay(ctx context.Context, c *engine.Conn, d *day) error {
	if err := c.Exec(ctx, "DELETE FROM days WHERE day = $1", int64(d.key)); err != nil {
		return err
	}
	if d.empty() {
		return nil
	}
	return c.Exec(ctx, "INSERT INTO days VALUES ($1, CAST($2 AS DATE), $3, $4, $5, $6, $7, $8, $9)",
		int64(d.key), d.key.String(), d.file, d.rows, d.bytes, d.checksum, d.table, d.disordered, uint64(d.generation))
}

// loadDays reads the manifest and counts the rows of the tables.
func loadDays(ctx context.Context, c *engine.Conn) (map[store.Day]*day, error) {
	days := make(map[store.Day]*day)
	err := c.Query(ctx, "SELECT day, file, rows, bytes, checksum, stored, disordered, generation FROM days", func(ch *engine.Chunk) error {
		key, file, table := engine.Numbers[int32](ch, 0), ch.Texts(1), ch.Texts(5)
		rows, bytes, sums := engine.Numbers[uint64](ch, 2), engine.Numbers[int64](ch, 3), engine.Numbers[uint64](ch, 4)
		disordered, generation := engine.Numbers[bool](ch, 6), engine.Numbers[uint32](ch, 7)
		for i := range ch.Rows {
			days[store.Day(key[i])] = &day{
				key: store.Day(key[i]), file: file.At(i), rows: rows[i], bytes: bytes[i], checksum: sums[i],
				table: table.At(i), disordered: disordered[i], generation: generation[i],
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		if d.table == "" {
			continue
		}
		if d.stored, err = count(ctx, c, "SELECT count(*) FROM "+d.table); err != nil {
			return nil, err
		}
		if d.texts, err = count(ctx, c, "SELECT count(*) FROM "+sample.WordTable(d.table)); err != nil {
			return nil, err
		}
	}
	return days, nil
}

// places returns where the days are, as far as newest samples of them may be saved.
func places(days map[store.Day]*day) snapshot.Days {
	out := snapshot.Days{Tables: make(map[string]snapshot.Covered)}
	for _, d := range days {
		if d.file != "" {
			out.Files = append(out.Files, d.file)
		}
		if d.table != "" {
			out.Tables[d.table] = snapshot.Covered{Rows: d.stored, Overwritten: d.overwritten}
		}
	}
	return out
}

// count runs a statement whose result is one number.
func count(ctx context.Context, c *engine.Conn, statement string, args ...any) (uint64, error) {
	var n uint64
	err := c.Query(ctx, statement, func(ch *engine.Chunk) error {
		n = engine.Numbers[uint64](ch, 0)[0]
		return nil
	}, args...)
	return n, err
}
