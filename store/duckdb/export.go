package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

var errExportLimit = errors.New("an export takes a range without a limit of samples per point")

// ExportParquet implements store.Exporter. The file is written beside the store first and then
// put in place, so that it is there whole or not at all. An existing file is replaced.
func (s *Store) ExportParquet(ctx context.Context, r store.Range, file string) (int64, error) {
	const op = "duckdb.ExportParquet"
	if err := r.Check(op); err != nil {
		return 0, err
	}
	if r.Limit > 0 {
		return 0, fault.E(op, fault.Invalid, strconv.Itoa(r.Limit), errExportLimit)
	}
	tmp, err := os.CreateTemp(filepath.Join(s.options.Dir, "tmp"), "export-*.parquet")
	if err != nil {
		return 0, fault.E(op, fault.Unavailable, file, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already if it was renamed
	if err := tmp.Close(); err != nil {
		return 0, fault.E(op, fault.Unavailable, file, err)
	}
	n, err := s.export(ctx, &r, tmp.Name())
	if err != nil {
		return 0, s.fail(op, file, err)
	}
	if err := moveFile(tmp.Name(), file); err != nil {
		return 0, fault.E(op, fault.Invalid, file, fmt.Errorf("the export cannot be written there: %w", err))
	}
	return n, nil
}

// export writes the samples day by day, each by point in the order in which the store met them and
// then time, and counts them. Closed days lie so already: sorting the whole again would take three
// times as long.
func (s *Store) export(ctx context.Context, r *store.Range, file string) (n int64, err error) {
	c, err := s.borrow(ctx, "duckdb.ExportParquet")
	if err != nil {
		return 0, err
	}
	defer s.giveBack(c)
	v := s.look(r.From.UnixMicro(), r.To.UnixMicro())
	defer v.done()
	if !r.From.Before(r.To) {
		v.days = nil
	}
	open, err := os.MkdirTemp(filepath.Join(s.options.Dir, "tmp"), "export-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(open)) }()
	statement, err := s.exportSQL(ctx, c, v.days, r, open)
	if err != nil {
		return 0, err
	}
	err = s.copyAlone(ctx, "COPY ("+statement+") TO "+quote(file)+" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE "+strconv.Itoa(rowGroup)+")",
		func(ch *engine.Chunk) error {
			n = engine.Numbers[int64](ch, 0)[0]
			return nil
		})
	return n, err
}

// copyAlone runs a statement about files in a database of its own, with one thread: with more of
// them DuckDB collects whatever is out of order, up to all the memory that the store may use.
func (s *Store) copyAlone(ctx context.Context, statement string, each func(*engine.Chunk) error) error {
	settings := s.options.settings()
	settings["threads"] = "1"
	db, err := engine.Open("", settings)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Query(ctx, statement, each)
}

// exportColumns are the columns of an export.
const exportColumns = "point, time, value, exact, text, " + kindWord + " AS kind, quality"

// exportSQL returns a query for the samples of the range in those days. What is in tables it puts,
// sorted, into files of the directory open first.
func (s *Store) exportSQL(ctx context.Context, c *engine.Conn, days []*day, r *store.Range, open string) (string, error) {
	g := newGroup(r.Points, s.number(r.Points))
	parts := []string{"SELECT ''::VARCHAR, NULL::TIMESTAMP, NULL::DOUBLE, NULL::BIGINT, NULL::VARCHAR, 0::UTINYINT, 0::UTINYINT WHERE false"}
	for i, run := range runs(days) {
		where := conditions(exactly(run, g.ids, r))
		files := s.filesOf(&part{days: run})
		if run[0].table != "" {
			name := filepath.Join(open, strconv.Itoa(i))
			err := c.Exec(ctx, "COPY (SELECT p.path AS point, d.* FROM (SELECT * FROM ("+s.daySQL(run[0])+")"+where+
				") d JOIN main.points p USING (id) ORDER BY d.id, d.time) TO "+quote(name)+" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
			if err != nil {
				return "", err
			}
			files, where = quote(name), ""
		}
		parts = append(parts, "SELECT point, time, value, exact, text, kind, quality FROM read_parquet("+files+")"+where)
	}
	return "SELECT " + exportColumns + " FROM (" + strings.Join(parts, " UNION ALL ") + ") e(point, time, value, exact, text, kind, quality)", nil
}

// runs cuts the days into those without a table, as many together as follow each other, and others,
// each alone.
func runs(days []*day) [][]*day {
	var out [][]*day
	for i, d := range days {
		if i > 0 && d.table == "" && days[i-1].table == "" {
			out[len(out)-1] = append(out[len(out)-1], d)
		} else {
			out = append(out, []*day{d})
		}
	}
	return out
}

// exactly returns the conditions for the samples of the ids in the range that lie in the days.
func exactly(days []*day, ids []uint32, r *store.Range) []string {
	sel := &selection{from: r.From.UnixMicro(), to: r.To.UnixMicro()}
	out := sel.where(&part{days: days})
	if r.GoodOnly {
		out = append(out, usable)
	}
	if len(ids) == 0 {
		return append(out, "false")
	}
	first, last := ids[0], ids[len(ids)-1]
	out = append(out, fmt.Sprintf("id BETWEEN %d AND %d", first, last))
	if int(last-first)+1 == len(ids) {
		return out
	}
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.FormatUint(uint64(id), 10)
	}
	return append(out, "id IN ("+strings.Join(list, ",")+")")
}

// moveFile renames a file, or copies it where a rename cannot go.
func moveFile(from, to string) error {
	if os.Rename(from, to) == nil {
		return os.Chmod(to, 0o644)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // was only read
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
