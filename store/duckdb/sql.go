package duckdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/piece"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/statement"
)

const (
	longestSQL = time.Minute // for a caller without a limit
	maxSpill   = 1 << 30     // bytes of disk that a statement may use
)

// statements runs people's statements in separate processes.
type statements struct {
	*database
	*index
	*day.Files
	pieces *piece.Pieces
}

// source returns another store whose views statements may read, too; nil for none.
func (s *statements) source() statement.Source {
	if s.options.Beside == nil {
		return nil
	}
	return s.options.Beside()
}

// SQL implements store.SQL. The statement sees the view samples(point, time, value, exact, text,
// kind, quality) over all days, the view points(id, path), and those of Options.Beside, in a separate process, which reads only files of
// the stores; see package statement. It does not see samples appended after it began.
func (s *statements) SQL(ctx context.Context, text string, columns func([]string) error, row func([]any) error) error {
	const op = "duckdb.SQL"
	c, err := s.Borrow(ctx, op)
	if err != nil {
		return err
	}
	v := s.look(math.MinInt64, math.MaxInt64)
	defer v.done()
	p, err := s.picture(ctx, c, &v)
	s.GiveBack(c)
	defer func() { s.pieces.Done(p.used) }()
	if err != nil {
		return s.Fail(op, "", err)
	}
	t, err := s.task(ctx, text, p)
	if err != nil {
		return s.Fail(op, s.options.Dir, err)
	}
	defer func() { _ = os.RemoveAll(t.Temp) }() // leftovers are removed when the store is opened
	return statement.Run(ctx, s.command(t), t, columns, row)
}

// command starts the process for a task.
func (s *statements) command(t *statement.Task) []string {
	if s.options.Statement == nil {
		return nil
	}
	return s.options.Statement(t.Read, t.Temp)
}

// task returns the task of the process, with half of the store's memory: two statements run at once.
func (s *statements) task(ctx context.Context, text string, p *picture) (*statement.Task, error) {
	tmp := filepath.Join(s.options.Dir, "tmp")
	temp, err := os.MkdirTemp(tmp, "sql-")
	if err != nil {
		return nil, err
	}
	t := &statement.Task{
		Statement: text, Views: p.views, Tables: []string{"samples", "points"}, Temp: temp,
		Read:   []string{filepath.Join(s.options.Dir, "days") + "/", tmp + "/"},
		Memory: max(s.options.MemoryLimit/2, 64<<20), Threads: s.options.Threads, Time: longestSQL, Spill: maxSpill,
	}
	if other := s.source(); other != nil {
		t.Source, t.Others = other, other.Tables()
		t.Read = append(t.Read, other.Folder()+"/")
	}
	if end, ok := ctx.Deadline(); ok {
		t.Time = max(time.Millisecond, min(t.Time, time.Until(end)))
	}
	var room unix.Statfs_t
	if err := unix.Statfs(tmp, &room); err == nil {
		t.Spill = min(t.Spill, int64(room.Bavail)*room.Bsize/4)
	}
	return t, nil
}

// picture is a snapshot of the history in files, for a statement.
type picture struct {
	views []string
	used  []*piece.Piece
}

// picture writes the content of tables to files. It returns the pieces that it uses even with an error.
func (s *statements) picture(ctx context.Context, c *engine.Conn, v *view) (*picture, error) {
	p := &picture{}
	there := map[string]bool{"points": true}
	var parts []string
	clean := day.Part{}
	for _, d := range v.days {
		if d.Table == "" {
			clean.Days = append(clean.Days, d)
			continue
		}
		there[d.Table], there[sample.WordTable(d.Table)] = true, true
		samples, words, err := p.day(ctx, s, c, d)
		if err != nil {
			return p, err
		}
		parts = append(parts, s.Files.SQL(d.ReadFrom(samples, words)))
	}
	s.pieces.Keep(func(table string) bool { return there[table] || s.knows(table) })
	if files := s.List(&clean); files != "" {
		parts = append(parts, "SELECT "+sample.FileColumns+" FROM read_parquet("+files+")")
	}
	n, err := engine.Count(ctx, c, "SELECT count(*) FROM points")
	if err != nil {
		return p, err
	}
	points, err := p.table(ctx, s, c, piece.Rows{Table: "points", Columns: "id, path", N: n})
	if err != nil {
		return p, err
	}
	if points == "" {
		points = "(SELECT 0::UINTEGER AS id, '' AS path WHERE false)"
	}
	if len(parts) == 0 {
		parts = append(parts, "SELECT 0::UINTEGER AS id, NULL::TIMESTAMP AS time, NULL::DOUBLE AS value, NULL::BIGINT AS exact, NULL::VARCHAR AS text, 0::UTINYINT AS kind, 0::UTINYINT AS quality WHERE false")
	}
	p.views = []string{
		"SET parquet_metadata_cache=true", "CREATE VIEW points AS SELECT id, path FROM " + points, "CREATE VIEW samples AS " + samplesSQL(parts),
	}
	return p, nil
}

// day returns the rows of a day's table and its texts, as a FROM expression.
func (p *picture) day(ctx context.Context, s *statements, c *engine.Conn, d *day.Day) (samples, words string, err error) {
	if samples, err = p.table(ctx, s, c, piece.Rows{Table: d.Table, Columns: sample.TableColumns, N: d.Stored}); err != nil || d.Texts == 0 {
		return samples, "", err
	}
	words, err = p.table(ctx, s, c, piece.Rows{Table: sample.WordTable(d.Table), Columns: "number, text", N: d.Texts})
	return samples, words, err
}

// table returns the rows, with their numbers as place, as a FROM expression; "" for none.
func (p *picture) table(ctx context.Context, s *statements, c *engine.Conn, r piece.Rows) (string, error) {
	if r.N == 0 {
		return "", nil
	}
	r.Columns += ", rowid AS place"
	used, err := s.pieces.Shown(ctx, c, r)
	if err != nil {
		return "", err
	}
	p.used = append(p.used, used...)
	return "read_parquet(" + piece.List(used) + ")", nil
}

// knows reports whether a day has the table now.
func (s *index) knows(table string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(slices.Collect(maps.Values(s.days)), func(d *day.Day) bool {
		return d.Table != "" && (d.Table == table || sample.WordTable(d.Table) == table)
	})
}

// kindWord is an expression for the kind of a sample as a word.
const kindWord = "CASE kind WHEN 1 THEN 'float' WHEN 2 THEN 'int' WHEN 3 THEN 'bool' WHEN 4 THEN 'text' ELSE 'none' END"

// samplesSQL returns a query for all samples of the parts, with the names of their points.
func samplesSQL(parts []string) string {
	return fmt.Sprintf("SELECT p.path AS point, d.time, d.value, d.exact, d.text, %s AS kind, d.quality FROM (%s) d JOIN points p ON p.id = d.id",
		kindWord, strings.Join(parts, " UNION ALL "))
}

var errServe = errors.New("this process was not started for a statement")

// IsStatement reports whether this process was started for a statement and must only call ServeStatement.
func IsStatement() bool { return os.Getenv(statement.Env) != "" }

// ServeStatement is the main function of a process started by Options.Statement: it answers the statement that it reads.
func ServeStatement(ctx context.Context) error {
	if !IsStatement() {
		return errServe
	}
	return statement.Serve(ctx, os.Stdin, os.Stdout)
}
