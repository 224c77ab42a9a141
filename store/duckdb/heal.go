package duckdb

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
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// healer makes database and directory agree when the store is opened.
type healer struct {
	*database
	saved *snapshot.Keeper
}

// heal makes database and directory agree after a crash: tables and files that nothing refers to
// are removed, days whose file is gone are set aside, and files of days that the database has
// never heard of (because it is new, or they were restored) are taken over.
func (s *healer) heal(ctx context.Context, c *engine.Conn) error {
	days, err := loadDays(ctx, c)
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
func dropTables(ctx context.Context, c *engine.Conn, days map[store.Day]*day) error {
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
		used[d.table], used[sample.WordTable(d.table)] = true, true
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

// missing sets days aside whose file is not there or has another size.
func (s *healer) missing(ctx context.Context, c *engine.Conn, days map[store.Day]*day) error {
	for _, d := range days {
		if d.file == "" {
			continue
		}
		reason := ""
		info, err := os.Stat(s.dayFile(d.file))
		switch {
		case errors.Is(err, os.ErrNotExist):
			reason = "the file is missing"
		case err != nil:
			return fmt.Errorf("look at the file of a day: %w", err)
		case info.Size() != d.bytes:
			reason = fmt.Sprintf("the file has %d bytes instead of %d", info.Size(), d.bytes)
		default:
			continue
		}
		file := d.file
		d.file, d.rows, d.bytes, d.checksum = "", 0, 0, 0
		d.generation++
		err = c.Transact(ctx, func() error {
			if err := saveDay(ctx, c, d); err != nil {
				return err
			}
			return noteDamage(ctx, c, damage{file: "days/" + file + ".damaged", day: d.key, days: 1, reason: reason, noticed: now()})
		})
		if err != nil {
			return err
		}
		_ = os.Rename(s.dayFile(file), s.dayFile(file)+".damaged") // may be missing
	}
	return nil
}

// strangers returns the files of days that the database does not know, oldest first, and removes
// what an interrupted close left: unfinished files, and files of days that have a place already.
func (s *healer) strangers(days map[store.Day]*day) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.options.Dir, "days"))
	if err != nil {
		return nil, fmt.Errorf("list the closed days: %w", err)
	}
	found := make(map[store.Day]string)
	for _, e := range entries {
		name := e.Name()
		key, ok := dayOfFile(name)
		switch d := days[key]; {
		case strings.HasSuffix(name, ".tmp"), ok && d != nil && d.file != name:
			if err := os.Remove(s.dayFile(name)); err != nil {
				return nil, fmt.Errorf("remove the rest of an interrupted close: %w", err)
			}
		case ok && d == nil && len(name) >= len(found[key]):
			found[key] = name // the longer name, or the later one, is of the newer generation
		}
	}
	names := make([]string, 0, len(found))
	for _, name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// dayOfFile returns the day whose samples a file holds, by its name.
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

// adopt takes over files of days that the database does not know, with their points and latest
// samples. A file that cannot be read, or numbers its points differently, is set aside.
func (s *healer) adopt(ctx context.Context, c *engine.Conn, files []string) error {
	if len(files) == 0 {
		return nil
	}
	cat, err := loadCatalogue(ctx, c, nil, s.saved)
	if err != nil {
		return err
	}
	for _, name := range files {
		err := s.adoptFile(ctx, c, cat, name)
		if err == nil {
			continue
		}
		if e := engine.AsError(err); !errors.Is(err, errNumbering) && (e == nil || e.Fatal() || noSpace(e.Text)) {
			return err
		}
		key, _ := dayOfFile(name)
		if err := os.Rename(s.dayFile(name), s.dayFile(name)+".damaged"); err != nil {
			return fmt.Errorf("set a damaged day aside: %w", err)
		}
		if err := noteDamage(ctx, c, damage{file: "days/" + name + ".damaged", day: key, days: 1, reason: err.Error(), noticed: now()}); err != nil {
			return err
		}
	}
	return c.Transact(ctx, func() error { return saveLatest(ctx, c, cat) })
}

var errNumbering = errors.New("the file numbers its points differently: it belongs to another history")

func (s *healer) adoptFile(ctx context.Context, c *engine.Conn, cat *catalogue, name string) error {
	points, err := s.pointsOf(ctx, c, name)
	if err != nil {
		return err
	}
	fresh := make(map[uint32]point.Path)
	for id, p := range points {
		known, ok := cat.id(p, id)
		if (ok && known != id) || (!ok && cat.names.Has(id)) {
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
	}, s.dayFile(name))
	if err != nil {
		return err
	}
	if err := s.adoptDay(ctx, c, name, rows, fresh); err != nil {
		return err
	}
	for id, p := range fresh {
		cat.put(id, p)
	}
	for id, r := range newest {
		cat.see(id, r)
	}
	return nil
}

// adoptDay writes the file and its new points into the database.
func (s *healer) adoptDay(ctx context.Context, c *engine.Conn, name string, rows uint64, fresh map[uint32]point.Path) error {
	key, _ := dayOfFile(name)
	sum, size, err := checksum(s.dayFile(name))
	if err != nil {
		return err
	}
	d := &day{key: key, file: name, rows: rows, bytes: size, checksum: sum, generation: adoptedGeneration}
	return c.Transact(ctx, func() error {
		for id, p := range fresh {
			if err := c.Exec(ctx, "INSERT INTO points VALUES ($1, $2)", id, string(p)); err != nil {
				return err
			}
		}
		return saveDay(ctx, c, d)
	})
}

// adoptedGeneration is above all generations that the name of an adopted file may hold.
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
	}, s.dayFile(name))
	return points, err
}
