// Package day locates the samples of each UTC day, in a file or a table, and reads them.
package day

import (
	"context"
	"strconv"
	"strings"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// Day is where the samples of one UTC day are: in a file, in a table, or in both if some came late. A Day is
// immutable and only replaced, so a reader may keep it.
type Day struct {
	Key        store.Day
	File       string // name in the directory "days"; "" if there is none
	Rows       uint64 // in the file
	Bytes      int64  // of the file
	Checksum   uint64 // of the file, XXH3
	Table      string // "" if there is none
	Stored     uint64 // rows in the table
	Texts      uint64 // rows in the table of texts that belongs to it
	Disordered bool   // the table holds samples that are not newer than all earlier ones of their point
	// Overwritten counts samples of the table that replaced the newest one of their point with another value.
	// Others are found when the day is closed.
	Overwritten uint64
	Generation  uint32 // counts the tables and files that the day has had
	shown       string // the source of its rows, if not the table; with the columns of the table and place
	shownWords  string // and of its texts
}

// NextTable returns the name of the table that the day gets when samples arrive.
func (d *Day) NextTable() string {
	return "day_" + strings.ReplaceAll(d.Key.String(), "-", "") + "_" + strconv.FormatUint(uint64(d.Generation)+1, 10)
}

// NextFile returns the name of the file that the day gets when it is closed.
func (d *Day) NextFile() string {
	if d.File == "" {
		return d.Key.String() + ".parquet"
	}
	return d.Key.String() + "." + strconv.FormatUint(uint64(d.Generation)+1, 10) + ".parquet"
}

// Empty reports whether the day holds nothing.
func (d *Day) Empty() bool { return d.File == "" && d.Table == "" }

// Save writes the day's row in the manifest, within the connection's transaction.
func Save(ctx context.Context, c *engine.Conn, d *Day) error {
	if err := c.Exec(ctx, "DELETE FROM days WHERE day = $1", int64(d.Key)); err != nil {
		return err
	}
	if d.Empty() {
		return nil
	}
	return c.Exec(ctx, "INSERT INTO days VALUES ($1, CAST($2 AS DATE), $3, $4, $5, $6, $7, $8, $9)",
		int64(d.Key), d.Key.String(), d.File, d.Rows, d.Bytes, d.Checksum, d.Table, d.Disordered, uint64(d.Generation))
}

// Load reads the manifest and counts the rows of the tables.
func Load(ctx context.Context, c *engine.Conn) (map[store.Day]*Day, error) {
	days := make(map[store.Day]*Day)
	err := c.Query(ctx, "SELECT day, file, rows, bytes, checksum, stored, disordered, generation FROM days", func(ch *engine.Chunk) error {
		key, file, table := engine.Numbers[int32](ch, 0), ch.Texts(1), ch.Texts(5)
		rows, bytes, sums := engine.Numbers[uint64](ch, 2), engine.Numbers[int64](ch, 3), engine.Numbers[uint64](ch, 4)
		disordered, generation := engine.Numbers[bool](ch, 6), engine.Numbers[uint32](ch, 7)
		for i := range ch.Rows {
			days[store.Day(key[i])] = &Day{
				Key: store.Day(key[i]), File: file.At(i), Rows: rows[i], Bytes: bytes[i], Checksum: sums[i],
				Table: table.At(i), Disordered: disordered[i], Generation: generation[i],
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, d := range days {
		if d.Table == "" {
			continue
		}
		if d.Stored, err = engine.Count(ctx, c, "SELECT count(*) FROM "+d.Table); err != nil {
			return nil, err
		}
		if d.Texts, err = engine.Count(ctx, c, "SELECT count(*) FROM "+sample.WordTable(d.Table)); err != nil {
			return nil, err
		}
	}
	return days, nil
}

// Places returns the locations of the days whose newest samples may be saved.
func Places(days map[store.Day]*Day) snapshot.Days {
	out := snapshot.Days{Tables: make(map[string]snapshot.Covered)}
	for _, d := range days {
		if d.File != "" {
			out.Files = append(out.Files, d.File)
		}
		if d.Table != "" {
			out.Tables[d.Table] = snapshot.Covered{Rows: d.Stored, Overwritten: d.Overwritten}
		}
	}
	return out
}
