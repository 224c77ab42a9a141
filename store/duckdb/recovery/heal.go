// Package recovery reconciles the database and the directory of a store when it is opened.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/catalogue"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/handle"
	"voltbus/store/duckdb/manifest"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// healer makes database and directory agree when the store is opened.
type healer struct {
	days  string // the directory of the days' files
	saved *snapshot.Keeper
}

// Heal makes database and directory agree after a crash: tables and files that nothing refers to are removed, days
// whose file is gone are set aside, and files of days unknown to the database (because it is new, or they were
// restored) are adopted. days is the directory of the days' files.
func Heal(ctx context.Context, c *engine.Conn, days string, saved *snapshot.Keeper) error {
	return (&healer{days: days, saved: saved}).heal(ctx, c)
}

// file returns the path of a file of a day.
func (s *healer) file(name string) string { return filepath.Join(s.days, name) }

func (s *healer) heal(ctx context.Context, c *engine.Conn) error {
	days, err := day.Load(ctx, c)
	if err != nil {
		return err
	}
	if err := dropTables(ctx, c, days); err != nil {
		return err
	}
	if err := s.missing(ctx, c, days); err != nil {
		return err
	}
	files, err := s.strangers(days)
	if err != nil {
		return err
	}
	return s.adopt(ctx, c, files)
}

// dropTables removes tables that a day had before it was closed.
func dropTables(ctx context.Context, c *engine.Conn, days map[store.Day]*day.Day) error {
	var tables []string
	err := c.Query(ctx, "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'day\\_%' ESCAPE '\\'", func(ch *engine.Chunk) error {
		names := ch.Texts(0)
		for i := range ch.Rows {
			tables = append(tables, names.At(i))
		}
		return nil
	})
	if err != nil {
		return err
	}
	used := make(map[string]bool)
	for _, d := range days {
		used[d.Table], used[sample.WordTable(d.Table)] = true, true
	}
	for _, t := range tables {
		if !used[t] {
			if err := c.Exec(ctx, "DROP TABLE "+t); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing sets aside days whose file is absent or has another size.
func (s *healer) missing(ctx context.Context, c *engine.Conn, days map[store.Day]*day.Day) error {
	for _, d := range days {
		if d.File == "" {
			continue
		}
		reason := ""
		info, err := os.Stat(s.file(d.File))
		switch {
		case errors.Is(err, os.ErrNotExist):
			reason = "the file is missing"
		case err != nil:
			return fmt.Errorf("look at the file of a day: %w", err)
		case info.Size() != d.Bytes:
			reason = fmt.Sprintf("the file has %d bytes instead of %d", info.Size(), d.Bytes)
		default:
			continue
		}
		file := d.File
		d.File, d.Rows, d.Bytes, d.Checksum = "", 0, 0, 0
		d.Generation++
		err = c.Transact(ctx, func() error {
			if err := day.Save(ctx, c, d); err != nil {
				return err
			}
			return manifest.NoteDamage(ctx, c, manifest.Damage{File: "days/" + file + ".damaged", Day: d.Key, Days: 1, Reason: reason})
		})
		if err != nil {
			return err
		}
		_ = os.Rename(s.file(file), s.file(file)+".damaged") // may be absent
	}
	return nil
}

// strangers returns the files of days that the database does not know, oldest first, and removes leftovers of
// an interrupted close: unfinished files, and files of days that already have a location.
func (s *healer) strangers(days map[store.Day]*day.Day) ([]string, error) {
	entries, err := os.ReadDir(s.days)
	if err != nil {
		return nil, fmt.Errorf("list the closed days: %w", err)
	}
	found := make(map[store.Day]string)
	for _, e := range entries {
		name := e.Name()
		key, ok := dayOfFile(name)
		switch d := days[key]; {
		case strings.HasSuffix(name, ".tmp"), ok && d != nil && d.File != name:
			if err := os.Remove(s.file(name)); err != nil {
				return nil, fmt.Errorf("remove the rest of an interrupted close: %w", err)
			}
		case ok && d == nil && len(name) >= len(found[key]):
			found[key] = name // the longer name, or the later one, has the newer generation
		}
	}
	names := make([]string, 0, len(found))
	for _, name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// dayOfFile returns the day of a file, by its name.
func dayOfFile(name string) (store.Day, bool) {
	date, rest, ok := strings.Cut(name, ".")
	if !ok || (rest != "parquet" && !strings.HasSuffix(rest, ".parquet")) {
		return 0, false
	}
	t, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0, false
	}
	return store.DayOf(t.UnixMicro()), true
}

// adopt adopts files of days that the database does not know, with their points and latest samples. A file
// that cannot be read, or numbers its points differently, is set aside.
func (s *healer) adopt(ctx context.Context, c *engine.Conn, files []string) error {
	if len(files) == 0 {
		return nil
	}
	cat, err := catalogue.Load(ctx, c, nil, s.saved)
	if err != nil {
		return err
	}
	for _, name := range files {
		err := s.adoptFile(ctx, c, cat, name)
		if err == nil {
			continue
		}
		if e := engine.AsError(err); !errors.Is(err, errNumbering) && (e == nil || e.Fatal() || handle.NoSpace(e.Text)) {
			return err
		}
		key, _ := dayOfFile(name)
		if err := os.Rename(s.file(name), s.file(name)+".damaged"); err != nil {
			return fmt.Errorf("set a damaged day aside: %w", err)
		}
		if err := manifest.NoteDamage(ctx, c, manifest.Damage{File: "days/" + name + ".damaged", Day: key, Days: 1, Reason: err.Error()}); err != nil {
			return err
		}
	}
	return c.Transact(ctx, func() error { return catalogue.SaveLatest(ctx, c, cat) })
}

var errNumbering = errors.New("the file numbers its points differently: it belongs to another history")

func (s *healer) adoptFile(ctx context.Context, c *engine.Conn, cat *catalogue.Catalogue, name string) error {
	points, err := s.pointsOf(ctx, c, name)
	if err != nil {
		return err
	}
	fresh := make(map[uint32]point.Path)
	for id, p := range points {
		known, ok := cat.ID(p, id)
		if (ok && known != id) || (!ok && cat.Names.Has(id)) {
			return errNumbering
		}
		if !ok {
			fresh[id] = p
		}
	}
	newest := make(map[uint32]sample.Row)
	rows := uint64(0)
	err = c.Query(ctx, "SELECT "+sample.FileColumns+" FROM read_parquet($1)", func(ch *engine.Chunk) error {
		cols := sample.ColumnsOf(ch)
		for i := range cols.Rows {
			newest[cols.ID[i]] = cols.At(i) // the file is sorted by point and time
		}
		rows += uint64(cols.Rows)
		return nil
	}, s.file(name))
	if err != nil {
		return err
	}
	if err := s.adoptDay(ctx, c, name, rows, fresh); err != nil {
		return err
	}
	for id, p := range fresh {
		cat.Put(id, p)
	}
	for id, r := range newest {
		cat.See(id, r)
	}
	return nil
}

// adoptDay writes the file and its new points into the database.
func (s *healer) adoptDay(ctx context.Context, c *engine.Conn, name string, rows uint64, fresh map[uint32]point.Path) error {
	key, _ := dayOfFile(name)
	sum, size, err := day.Checksum(s.file(name))
	if err != nil {
		return err
	}
	d := &day.Day{Key: key, File: name, Rows: rows, Bytes: size, Checksum: sum, Generation: adoptedGeneration}
	return c.Transact(ctx, func() error {
		for id, p := range fresh {
			if err := c.Exec(ctx, "INSERT INTO points VALUES ($1, $2)", id, string(p)); err != nil {
				return err
			}
		}
		return day.Save(ctx, c, d)
	})
}

// adoptedGeneration is greater than any generation in the name of an adopted file.
const adoptedGeneration = 1_000_000

// pointsOf returns the points of a day's file by their numbers.
func (s *healer) pointsOf(ctx context.Context, c *engine.Conn, name string) (map[uint32]point.Path, error) {
	points := make(map[uint32]point.Path)
	err := c.Query(ctx, "SELECT DISTINCT id, point FROM read_parquet($1)", func(ch *engine.Chunk) error {
		ids, paths := engine.Numbers[uint32](ch, 0), ch.Texts(1)
		for i := range ch.Rows {
			if old, ok := points[ids[i]]; ok && old != point.Path(paths.At(i)) {
				return errNumbering
			}
			points[ids[i]] = point.Path(paths.At(i))
		}
		return nil
	}, s.file(name))
	return points, err
}
