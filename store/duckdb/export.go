package duckdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

var errExportLimit = errors.New("an export takes a range without a limit of samples per point")

// exporter writes ranges into files.
type exporter struct {
	*database
	*index
	*day.Files
}

// ExportParquet implements store.Exporter. The file is written beside the store first and then
// put in place, so that it is there whole or not at all. An existing file is replaced.
func (s *exporter) ExportParquet(ctx context.Context, r store.Range, file string) (int64, error) {
	return s.ExportMixed(ctx, r, nil, file)
}

// ExportMixed implements store.MixedExporter, as ExportParquet does.
func (s *exporter) ExportMixed(ctx context.Context, r store.Range, added map[point.Path][]point.Sample, file string) (int64, error) {
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
	n, err := s.export(ctx, &r, added, tmp.Name())
	if err != nil {
		return 0, s.Fail(op, file, err)
	}
	if err := moveFile(tmp.Name(), file); err != nil {
		return 0, fault.E(op, fault.Invalid, file, fmt.Errorf("the export cannot be written there: %w", err))
	}
	return n, nil
}

// export writes the samples day by day, each by point in the order in which the store met them and
// then time, and counts them. Closed days lie so already: sorting the whole again would take three
// times as long.
func (s *exporter) export(ctx context.Context, r *store.Range, added map[point.Path][]point.Sample, file string) (n int64, err error) {
	c, err := s.Borrow(ctx, "duckdb.ExportParquet")
	if err != nil {
		return 0, err
	}
	defer s.GiveBack(c)
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
	e := &export{s: s, conn: c, r: r, numbers: s.number(r.Points), open: open}
	e.ids = sample.NewGroup(r.Points, e.numbers).IDs
	if err := e.mix(ctx, added); err != nil {
		return 0, err
	}
	statement, err := e.sql(ctx, v.days)
	if err != nil {
		return 0, err
	}
	err = s.copyAlone(ctx, "COPY ("+statement+") TO "+engine.Quote(file)+" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, ROW_GROUP_SIZE "+strconv.Itoa(day.RowGroup)+")",
		func(ch *engine.Chunk) error {
			n = engine.Numbers[int64](ch, 0)[0]
			return nil
		})
	return n, err
}

// exportColumns are the columns of an export.
const exportColumns = "point, time, value, exact, text, " + kindWord + " AS kind, quality"

// export is how a range is written.
type export struct {
	s       *exporter
	conn    *engine.Conn
	r       *store.Range
	numbers []int64  // of its points; -1 for those that the store never met
	ids     []uint32 // the others, sorted
	open    string   // a directory for files with what cannot be read as it lies

	added string             // a file with the columns point and sample.FileColumns; "" if nothing is added
	mixed map[store.Day]bool // days to which something is added
}

// sql returns a query for the samples of the range in those days, and what is added. What is in tables,
// and what is to be mixed, it puts, sorted, into files of the directory open first.
func (e *export) sql(ctx context.Context, days []*day.Day) (string, error) {
	parts := []string{"SELECT ''::VARCHAR, NULL::TIMESTAMP, NULL::DOUBLE, NULL::BIGINT, NULL::VARCHAR, 0::UTINYINT, 0::UTINYINT WHERE false"}
	for i, run := range e.runs(days) {
		where := sample.Where(exactly(run, e.ids, e.r))
		files := e.s.List(&day.Part{Days: run})
		if run[0].Table != "" || e.mixed[run[0].Key] {
			var err error
			if files, err = e.sorted(ctx, run[0], filepath.Join(e.open, strconv.Itoa(i))); err != nil {
				return "", err
			}
			where = ""
		}
		parts = append(parts, "SELECT point, time, value, exact, text, kind, quality FROM read_parquet("+files+")"+where)
	}
	return "SELECT " + exportColumns + " FROM (" + strings.Join(parts, " UNION ALL ") + ") e(point, time, value, exact, text, kind, quality)", nil
}

// mostSorted is how many samples are sorted at once, about: they take some 150 bytes each meanwhile.
const mostSorted = 1 << 18

// sorted puts what is asked for of a day, sorted and as it is at one moment, into files with the name and a number, and returns them as
// read_parquet takes them: the first has the points with the lowest numbers.
func (e *export) sorted(ctx context.Context, d *day.Day, name string) (files string, err error) {
	pieces := max(1, int(min(day.SamplesIn([]*day.Day{d})/mostSorted+1, uint64(len(e.ids)))))
	names := make([]string, pieces)
	err = e.conn.Transact(ctx, func() error {
		from := uint32(0)
		for i := range names {
			to := uint32(math.MaxUint32) // those that are only added stand behind the others
			if i+1 < pieces {
				to = e.ids[(i+1)*len(e.ids)/pieces]
			}
			names[i] = engine.Quote(name + "-" + strconv.Itoa(i))
			err := e.conn.Exec(ctx, "COPY ("+e.daySorted(d, from, to)+") TO "+names[i]+" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
			if err != nil {
				return err
			}
			from = to
		}
		return nil
	})
	return "[" + strings.Join(names, ",") + "]", err
}

// runs cuts the days into those that can be read as they lie, as many together as follow each other,
// and others, each alone.
func (e *export) runs(days []*day.Day) [][]*day.Day {
	plain := func(d *day.Day) bool { return d.Table == "" && !e.mixed[d.Key] }
	days = e.withAdded(days)
	var out [][]*day.Day
	for i, d := range days {
		if i > 0 && plain(d) && plain(days[i-1]) {
			out[len(out)-1] = append(out[len(out)-1], d)
		} else {
			out = append(out, []*day.Day{d})
		}
	}
	return out
}

// exactly returns the conditions for the samples of the ids in the range that lie in the days.
func exactly(days []*day.Day, ids []uint32, r *store.Range) []string {
	sel := &day.Selection{From: r.From.UnixMicro(), To: r.To.UnixMicro()}
	out := sel.Where(&day.Part{Days: days})
	if r.GoodOnly {
		out = append(out, day.NotBad)
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
