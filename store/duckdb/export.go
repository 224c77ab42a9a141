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

// ExportParquet implements store.Exporter. The file is first written next to the store and then moved, so
// that it exists complete or not at all. An existing file is replaced.
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
	defer func() { _ = os.Remove(tmp.Name()) }() // absent if it was renamed
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

// export writes the samples day by day, each by point in the order in which the store first saw them and then
// by time, and counts them. Closed days are already in this order: sorting everything again would take three
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

// export describes how a range is written.
type export struct {
	s       *exporter
	conn    *engine.Conn
	r       *store.Range
	numbers []int64  // of its points; -1 for those unknown to the store
	ids     []uint32 // the known ones, sorted
	open    string   // a directory for files with data that cannot be read in place

	added string             // a file with the columns point and sample.FileColumns; "" if nothing is added
	mixed map[store.Day]bool // days to which samples are added
}

// sql returns a query for the samples of the range in those days, including added ones. Samples in tables,
// and those to be mixed, are first sorted into files of the directory open.
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

// mostSorted is about how many samples are sorted at once: they take some 150 bytes each.
const mostSorted = 1 << 18

// sorted writes the requested samples of a day, sorted and from a consistent snapshot, to files with the name and a number, and returns
// them in the form that read_parquet takes: the first has the points with the lowest numbers.
func (e *export) sorted(ctx context.Context, d *day.Day, name string) (files string, err error) {
	pieces := max(1, int(min(day.SamplesIn([]*day.Day{d})/mostSorted+1, uint64(len(e.ids)))))
	names := make([]string, pieces)
	err = e.conn.Transact(ctx, func() error {
		from := uint32(0)
		for i := range names {
			to := uint32(math.MaxUint32) // points with only added samples come after the others
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

// runs splits the days into consecutive runs that can be read in place, and single other days.
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

// moveFile renames a file, or copies it if it cannot be renamed there.
func moveFile(from, to string) error {
	if os.Rename(from, to) == nil {
		return os.Chmod(to, 0o644)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
