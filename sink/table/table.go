// Package table sends readings to tables of SQL databases: a file of SQLite, MySQL and MariaDB. The table is made if it is missing; it has one
// row for each point and time, which a reading that is sent again replaces.
package table

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/setting"
)

// dialect is what differs between the databases.
type dialect struct {
	quote   string // of names
	create  string // of the table: %s stands for its name
	column  string // type of a tag's column
	many    int    // rows in a statement
	replace func(columns []string) string
	// columns lists the columns of a table.
	columns string
	// judge returns why rows cannot be stored, "" if the error is about something else.
	judge func(error) (reason string)
	// plain says in plain words what is wrong.
	plain func(error) error
}

type writer struct {
	*dialect

	open    func() (*sql.DB, error)
	db      *sql.DB
	table   string
	tags    []string
	subject string

	mu   sync.Mutex
	made bool
}

var tableName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

func checkName(s *setting.Sink, name string) error {
	if !tableName.MatchString(name) {
		return fault.E("sinks.Open", fault.Invalid, name, fmt.Errorf("into of the destination %q is not the name of a table; write letters, digits and _, such as readings", s.Name))
	}
	return nil
}

func tagsOf(s *setting.Sink) []string {
	list := make([]string, 0, len(s.Tags))
	for name := range s.Tags {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Write implements destination.Writer.
func (w *writer) Write(ctx context.Context, rows []destination.Row) ([]destination.Refusal, error) {
	if err := w.prepare(ctx); err != nil {
		return nil, w.unavailable(err)
	}
	return destination.Halve(rows, func(part []destination.Row) (string, error) {
		err := w.store(ctx, part)
		if err == nil {
			return "", nil
		}
		if reason := w.judge(err); reason != "" {
			return reason, nil
		}
		w.mu.Lock()
		w.made = false // the table may have been changed or dropped
		w.mu.Unlock()
		return "", w.unavailable(err)
	})
}

func (w *writer) unavailable(err error) error {
	return fault.E("sinks.Append", fault.Unavailable, w.subject, w.plain(err))
}

// prepare makes the table, and the columns of tags that were added since.
func (w *writer) prepare(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.made {
		return nil
	}
	if w.db == nil {
		db, err := w.open()
		if err != nil {
			return err
		}
		w.db = db
	}
	if _, err := w.db.ExecContext(ctx, fmt.Sprintf(w.create, w.name(w.table))); err != nil {
		return err
	}
	there, err := w.there(ctx)
	if err != nil {
		return err
	}
	for _, name := range w.tags {
		if there[strings.ToLower(name)] {
			continue
		}
		if _, err := w.db.ExecContext(ctx, "ALTER TABLE "+w.name(w.table)+" ADD COLUMN "+w.name(name)+" "+w.column); err != nil {
			return err
		}
	}
	w.made = true
	return nil
}

func (w *writer) there(ctx context.Context) (map[string]bool, error) {
	rows, err := w.db.QueryContext(ctx, w.columns, w.table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	there := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		there[strings.ToLower(name)] = true
	}
	return there, rows.Err()
}

func (w *writer) name(s string) string { return w.quote + s + w.quote }

// fixed are the columns that each table has.
var fixed = []string{"point", "time", "value", "exact", "text", "quality", "unit"} //nolint:gochecknoglobals // a table

// store stores rows in one transaction.
func (w *writer) store(ctx context.Context, rows []destination.Row) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of no effect after the commit
	for many := min(w.many, len(rows)); len(rows) > 0; many = min(many, len(rows)) {
		statement, err := tx.PrepareContext(ctx, w.insert(many))
		if err != nil {
			return err
		}
		args := make([]any, 0, many*(len(fixed)+len(w.tags)))
		for ; len(rows) >= many; rows = rows[many:] {
			args = args[:0]
			for i := range rows[:many] {
				args = w.appendRow(args, &rows[i])
			}
			if _, err := statement.ExecContext(ctx, args...); err != nil {
				_ = statement.Close()
				return err
			}
		}
		if err := statement.Close(); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// insert returns the statement for so many rows.
func (w *writer) insert(many int) string {
	columns := append(slices.Clone(fixed), w.tags...)
	quoted := make([]string, len(columns))
	for i, name := range columns {
		quoted[i] = w.name(name)
	}
	one := "(" + strings.Repeat("?,", len(columns)-1) + "?)"
	return "INSERT INTO " + w.name(w.table) + " (" + strings.Join(quoted, ",") + ") VALUES " +
		strings.Repeat(one+",", many-1) + one + w.replace(quoted)
}

// appendRow appends the values of a row's columns.
func (w *writer) appendRow(args []any, r *destination.Row) []any {
	var value, exact, text any
	switch r.Value.Kind() {
	case point.Text:
		text = r.Value.Text()
	case point.Int:
		n, _ := r.Value.Int()
		value, exact = float64(n), n
	case point.Bool:
		value = float64(r.Value.Bits())
	case point.Float:
		if n, _ := r.Value.Number(); !math.IsNaN(n) && !math.IsInf(n, 0) {
			value = n
		} else {
			text = r.Value.String()
		}
	case point.None:
	}
	at := time.UnixMicro(r.Time).UTC().Format("2006-01-02 15:04:05.000000")
	args = append(args, r.Name, at, value, exact, text, r.Quality.String(), r.Unit)
	next := 0
	for _, name := range w.tags {
		tag := ""
		if next < len(r.Tags) && r.Tags[next].Name == name {
			tag = r.Tags[next].Text
			next++
		}
		args = append(args, tag)
	}
	return args
}

// Close implements destination.Writer.
func (w *writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.db == nil {
		return nil
	}
	err := w.db.Close()
	w.db, w.made = nil, false
	return err
}

// assignments returns the list that sets all columns but the key.
func assignments(columns []string, form string) string {
	list := make([]string, 0, len(columns))
	for _, name := range columns[2:] { // point and time are the key
		list = append(list, fmt.Sprintf(form, name, name))
	}
	return strings.Join(list, ",")
}

// Probe implements destination.Prober: it makes the table.
func (w *writer) Probe(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return w.unavailable(err)
	}
	return nil
}
