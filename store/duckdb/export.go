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
	"voltbus/point"
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

// export writes the samples, by point in the order in which the store met them, and then time, and
// counts them.
func (s *Store) export(ctx context.Context, r *store.Range, file string) (int64, error) {
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
	where := fmt.Sprintf(" AND d.time >= make_timestamp(%d) AND d.time < make_timestamp(%d)",
		r.From.UnixMicro(), r.To.UnixMicro())
	if r.GoodOnly {
		where += fmt.Sprintf(" AND d.quality < %d", point.Bad)
	}
	var n int64
	err = c.Query(ctx, "COPY ("+s.samplesSQL(&v)+" WHERE p.path IN ("+list(r.Points)+")"+where+" ORDER BY d.id, d.time) TO "+quote(file)+
		" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)", func(ch *engine.Chunk) error {
		n = engine.Numbers[int64](ch, 0)[0]
		return nil
	})
	return n, err
}

// list returns the paths as string literals; one that no point can have if there are none.
func list(paths []point.Path) string {
	if len(paths) == 0 {
		return "''"
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = quote(string(p))
	}
	return strings.Join(out, ",")
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
