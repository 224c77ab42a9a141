// Package sqlview shows an embedded metering store to the statements of people: meters, channels, readings, all their versions, and
// events. A statement runs in a process of its own, which cannot open the database while the node has it open. So the tables of the days
// that it reads are copied into Parquet files, and views of the process make readings of them.
package sqlview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"voltbus/fault"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/piece"
	"voltbus/store/duckdb/statement"
)

// Bounds of what is copied.
const (
	mostRows    = 200_000_000 // versions that one statement reads, and that are kept for the next ones
	mostModels  = 50_000      // descriptions of channels
	bytesOfARow = 12          // at most, roughly, in a file
)

var (
	errMany   = errors.New("bound the days, such as WHERE day >= '2026-03-01' AND day < '2026-04-01', in each SELECT from readings or reading_versions")
	errModels = fmt.Errorf("the meters have more than %d different descriptions of channels, which are too many for SQL; export readings instead", mostModels)
)

// Tables are the views.
func Tables() []statement.Dated {
	return []statement.Dated{
		{Name: "meters"}, {Name: "channels"}, {Name: "readings", Day: "day", End: "end"}, {Name: "reading_versions", Day: "day", End: "end"}, {Name: "meter_events"},
	}
}

// Shown is the files of a store. It is safe for concurrent use.
type Shown struct {
	dir    string
	pieces *piece.Pieces

	mu    sync.Mutex
	use   uint64
	last  map[string]held
	moved uint64 // installations when the meters were copied
}

// held is a table that is in files.
type held struct{ rows, use uint64 }

// New returns the files in a folder, which must be there and empty.
func New(dir string) *Shown {
	return &Shown{dir: dir, pieces: piece.New(dir), last: map[string]held{}}
}

// Seen is a store as a connection sees it.
type Seen struct {
	Conn     *engine.Conn
	Dir      *directory.Directory
	Calendar *store.Calendar
	Days     map[store.Day]*table.Day
	Sources  []table.Source
}

// picture is a store in files.
type picture struct {
	shown    *Shown
	need     statement.Need
	calendar *store.Calendar
	days     []*table.Day
	models   []*directory.Model
	sources  []table.Source
	files    map[string]string // what to select from, by the table
	used     []*piece.Piece
	tables   map[string]uint64 // that are used, with their rows

	// Queries of rows of days: of the sorted tables of days without and with other versions, and of these versions of days without
	// and with a sorted table.
	clean, mixed, open, changed []string
}

// Folder returns where the files of a store in a folder are, and makes it.
func Folder(exports string) (string, error) {
	dir, err := filepath.Abs(filepath.Join(exports, "sql")) // the process of a statement has a directory of its own
	if err == nil {
		err = os.MkdirAll(dir, 0o750)
	}
	return dir, err
}

// Source shows a store to statements. It implements statement.Source.
type Source struct {
	Shown *Shown
	// Look returns the store as it is now, until give is called.
	Look func(ctx context.Context) (seen *Seen, give func(), err error)
	Fail func(error) error // gives an error of the engine a kind
}

var _ statement.Source = (*Source)(nil)

// Folder implements statement.Source.
func (s *Source) Folder() string { return s.Shown.dir }

// Tables implements statement.Source.
func (*Source) Tables() []statement.Dated { return Tables() }

// Views implements statement.Source.
func (s *Source) Views(ctx context.Context, need statement.Need) ([]string, func(), error) {
	seen, give, err := s.Look(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer give()
	views, done, err := s.Shown.Views(ctx, seen, need)
	if err != nil {
		return nil, nil, s.Fail(err)
	}
	return views, done, nil
}

// Views writes what a statement needs into files, and returns the statements that make its views.
func (s *Shown) Views(ctx context.Context, seen *Seen, need statement.Need) (views []string, done func(), err error) {
	p := &picture{
		shown: s, need: need, calendar: seen.Calendar, models: directory.Models(seen.Dir), sources: seen.Sources, files: map[string]string{}, tables: map[string]uint64{},
	}
	if len(p.models) > mostModels {
		return nil, nil, fault.E("metering.SQL", fault.Unavailable, "", errModels)
	}
	if err = p.fill(ctx, seen); err != nil {
		s.pieces.Done(p.used)
		return nil, nil, err
	}
	s.keep(p)
	return p.views(), func() { s.pieces.Done(p.used) }, nil
}

func (p *picture) wants(name string) bool { return slices.Contains(p.need.Tables, name) }

// of is what to select from for a table; one row that is left out if nothing was copied.
func (p *picture) of(name, columns string) string {
	if files := p.files[name]; files != "" {
		return files
	}
	return "(SELECT " + columns + " WHERE false)"
}

// fill copies what is needed.
func (p *picture) fill(ctx context.Context, seen *Seen) error {
	small := []string{"meters"}
	if p.wants("meters") {
		small = append(small, "points", "installations")
	}
	if p.wants("meter_events") {
		small = append(small, "events")
	}
	if p.wants("readings") || p.wants("reading_versions") {
		small = append(small, "sources", "verdicts")
		if err := p.chooseDays(seen.Days); err != nil {
			return err
		}
	}
	if err := p.forgetMoved(ctx, seen.Conn); err != nil {
		return err
	}
	for _, name := range small {
		n, err := engine.Count(ctx, seen.Conn, "SELECT count(*) FROM "+name)
		if err != nil {
			return err
		}
		if p.files[name], err = p.copy(ctx, seen.Conn, piece.Rows{Table: name, Columns: "*", N: n}); err != nil {
			return err
		}
	}
	for _, d := range p.days {
		if err := p.day(ctx, seen.Conn, d); err != nil {
			return err
		}
	}
	return nil
}

// chooseDays picks the days that the statement reads, if they are not too many.
func (p *picture) chooseDays(days map[store.Day]*table.Day) error {
	from, to, rows := dayOf(p.need.From), dayOf(p.need.To), uint64(0)
	for _, key := range slices.Sorted(maps.Keys(days)) {
		if key < from || key > to {
			continue
		}
		p.days = append(p.days, days[key])
		rows += days[key].Rows()
	}
	if rows > mostRows {
		return fault.E("metering.SQL", fault.Invalid, "readings",
			fmt.Errorf("the statement reads %d days with %d million versions, more than %d million; %w", len(p.days), rows/1_000_000, mostRows/1_000_000, errMany))
	}
	return p.room(rows)
}

// room refuses what could fill the disk.
func (p *picture) room(rows uint64) error {
	for _, d := range p.days {
		for _, name := range []string{d.SealedTable(), d.ExtraTable(), d.BatchTable(), d.OpenTable()} {
			rows -= min(rows, p.shown.rows(name))
		}
	}
	var free unix.Statfs_t
	if err := unix.Statfs(p.shown.dir, &free); err != nil {
		return nil //nolint:nilerr // then writing says what is wrong
	}
	if left := free.Bavail * uint64(free.Bsize); rows*bytesOfARow > left/4 {
		return fault.E("metering.SQL", fault.Unavailable, "readings",
			fmt.Errorf("the statement needs some %d MB on the disk, more than a quarter of what is free; %w", rows*bytesOfARow>>20, errMany))
	}
	return nil
}

// day copies the tables of a day.
func (p *picture) day(ctx context.Context, c *engine.Conn, d *table.Day) error {
	day := date(d.Key) + " AS day, "
	files, err := p.copy(ctx, c, piece.Rows{Table: d.SealedTable(), Columns: day + sealedColumns, N: d.Sealed})
	if err != nil {
		return err
	}
	loose := &p.open
	if files != "" {
		sealed := &p.clean
		if loose = &p.changed; len(d.VersionTables()) > 0 {
			sealed = &p.mixed
		}
		*sealed = append(*sealed, "SELECT day, "+sealedColumns+" FROM "+files)
	}
	rows := map[string]uint64{d.ExtraTable(): d.Extra, d.BatchTable(): d.Taken, d.OpenTable(): d.Open}
	for place, from := range d.VersionTables() {
		if files, err = p.copy(ctx, c, piece.Rows{Table: from.Table, Columns: day + versionedTable, N: rows[from.Table]}); err != nil {
			return err
		}
		if files != "" {
			*loose = append(*loose, fmt.Sprintf("SELECT day, channel, place, value, recorded::BIGINT AS recorded, source, step + %d::BIGINT AS step FROM %s WHERE true%s", int64(place)<<40, files, from.And))
		}
	}
	return nil
}

// copy copies the first rows of a table, and returns what to select from; "" for none.
func (p *picture) copy(ctx context.Context, c *engine.Conn, r piece.Rows) (string, error) {
	if r.N == 0 {
		return "", nil
	}
	used, err := p.shown.pieces.Shown(ctx, c, r)
	if err != nil {
		return "", err
	}
	p.used = append(p.used, used...)
	p.tables[r.Table] = r.N
	return "read_parquet(" + piece.List(used) + ")", nil
}

// registered are the tables whose rows may change: when a meter is exchanged. Each exchange is a row of the table of installations.
func registered(name string) bool { return name == "meters" || name == "installations" }

// forgetMoved drops copies of meters and installations that have changed since.
func (p *picture) forgetMoved(ctx context.Context, c *engine.Conn) error {
	moved, err := engine.Count(ctx, c, "SELECT count(*) + count(*) FILTER (WHERE until <> 0) * 1000000007 FROM installations")
	if err != nil {
		return err
	}
	s := p.shown
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.moved == moved {
		return nil
	}
	s.moved = moved
	s.pieces.Keep(func(name string) bool { return !registered(name) })
	return nil
}

func (s *Shown) rows(name string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last[name].rows
}

// keep forgets the tables that were not used for the longest time when all together are too many.
func (s *Shown) keep(p *picture) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use++
	for name, n := range p.tables {
		s.last[name] = held{n, s.use}
	}
	all := uint64(0)
	for _, h := range s.last {
		all += h.rows
	}
	names := slices.SortedFunc(maps.Keys(s.last), func(a, b string) int { return strings.Compare(a, b) })
	slices.SortStableFunc(names, func(a, b string) int { return int(s.last[a].use) - int(s.last[b].use) })
	gone := map[string]bool{}
	for _, name := range names {
		if all <= mostRows || s.last[name].use == s.use {
			break
		}
		all -= s.last[name].rows
		gone[name] = true
		delete(s.last, name)
	}
	if len(gone) > 0 {
		s.pieces.Keep(func(name string) bool { return !gone[name] })
	}
}
