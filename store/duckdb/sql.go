package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

var errNotRead = errors.New("only one statement that reads is answered: SELECT, WITH, DESCRIBE, SHOW or EXPLAIN")

// SQL implements store.SQL. The statement sees the view samples(point, time, value, exact, text,
// kind, quality) over all days, and the table points(id, path). It cannot see other files, the
// network, or anything that Append did after it began to look at a day.
func (s *Store) SQL(ctx context.Context, statement string, columns func([]string) error, row func([]any) error) error {
	const op = "duckdb.SQL"
	c, err := s.borrow(ctx, op)
	if err != nil {
		return err
	}
	defer s.giveBack(c)
	v := s.look(math.MinInt64, math.MaxInt64)
	defer v.done()
	err = c.Exec(ctx, "CREATE OR REPLACE TEMP VIEW samples AS "+s.samplesSQL(&v))
	if err == nil {
		err = answer(ctx, c, statement, columns, row)
	}
	if e := engine.AsError(err); e != nil {
		return s.failSQL(op, e)
	}
	if errors.Is(err, errNotRead) {
		return fault.E(op, fault.Refused, firstWord(statement), err)
	}
	if ctx.Err() != nil {
		return fault.E(op, fault.KindOf(ctx.Err()), "", err)
	}
	return err
}

// failSQL tells a mistake in the statement from trouble of the store.
func (s *Store) failSQL(op string, e *engine.Error) error {
	switch e.Type {
	case duck.ErrorTypePermission, duck.ErrorTypeTransaction:
		return fault.E(op, fault.Refused, "", e)
	case duck.ErrorTypeErrorIO, duck.ErrorTypeFatal, duck.ErrorTypeInternal, duck.ErrorTypeOutOfMemory:
		return s.fail(op, "", e)
	}
	if strings.HasPrefix(e.Text, "Permission Error") || strings.Contains(e.Text, "configuration has been locked") {
		return fault.E(op, fault.Refused, "", e)
	}
	return fault.E(op, fault.Invalid, "", e)
}

// firstWord returns the word that a statement begins with, behind comments and brackets.
func firstWord(statement string) string {
	for {
		statement = strings.TrimLeft(statement, " \t\r\n(")
		switch {
		case strings.HasPrefix(statement, "--"):
			_, statement, _ = strings.Cut(statement, "\n")
		case strings.HasPrefix(statement, "/*"):
			_, statement, _ = strings.Cut(statement, "*/")
		default:
			end := strings.IndexFunc(statement, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(statement)
			}
			return strings.ToUpper(statement[:min(end, 20)])
		}
	}
}

// readingWords begin the statements that are answered. DuckDB takes others, such as PRAGMA, for a
// SELECT as well.
const readingWords = " SELECT WITH FROM VALUES DESCRIBE DESC SHOW SUMMARIZE EXPLAIN "

// answer runs the statement in a transaction that cannot write.
func answer(ctx context.Context, c *engine.Conn, statement string, columns func([]string) error, row func([]any) error) error {
	if word := firstWord(statement); word == "" || !strings.Contains(readingWords, " "+word+" ") {
		return notRead(c, statement)
	}
	kind, err := c.Kind(statement)
	if err != nil {
		return err
	}
	if !reads(kind) {
		return errNotRead
	}
	if err := c.Exec(ctx, "BEGIN TRANSACTION READ ONLY"); err != nil {
		return err
	}
	defer func() { _ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") }() // there is nothing to lose
	stmt, err := prepareReadable(c, statement, kind)
	if err != nil {
		return err
	}
	defer stmt.Close()
	if err := columns(stmt.Columns()); err != nil {
		return err
	}
	types := stmt.Types()
	return stmt.Query(ctx, func(ch *engine.Chunk) error {
		for r := range ch.Rows {
			values := make([]any, len(types)) // the caller may keep it
			for i, t := range types {
				values[i] = ch.Value(i, r, t)
			}
			if err := row(values); err != nil {
				return err
			}
		}
		return nil
	})
}

// notRead tells words that are no statement at all from a statement that is refused.
func notRead(c *engine.Conn, statement string) error {
	if e := engine.AsError(c.Parse(statement)); e != nil && strings.HasPrefix(e.Text, "Parser Error") {
		return e
	}
	return errNotRead
}

func reads(t duck.StatementType) bool {
	return t == duck.StatementTypeSelect || t == duck.StatementTypeExplain
}

// prepareReadable prepares the statement so that columns of types that the caller does not know
// come as text.
func prepareReadable(c *engine.Conn, statement string, kind duck.StatementType) (*engine.Stmt, error) {
	stmt, err := c.Prepare(statement)
	if err != nil {
		return nil, err
	}
	if kind != duck.StatementTypeSelect || stmt.Readable() {
		return stmt, nil
	}
	names := stmt.Columns()
	aliases, list := make([]string, len(names)), make([]string, len(names))
	for i, t := range stmt.Types() {
		aliases[i] = fmt.Sprintf("c%d", i)
		list[i] = aliases[i]
		if !engine.Readable(t) {
			list[i] += "::VARCHAR"
		}
		list[i] += ` AS "` + strings.ReplaceAll(names[i], `"`, `""`) + `"`
	}
	stmt.Close()
	inner := strings.TrimRight(strings.TrimSpace(statement), "; \t\r\n")
	return c.Prepare("SELECT " + strings.Join(list, ", ") + " FROM (" + inner + "\n) AS t(" + strings.Join(aliases, ", ") + ")")
}

// kindWord is the kind of a sample as a word.
const kindWord = "CASE kind WHEN 1 THEN 'float' WHEN 2 THEN 'int' WHEN 3 THEN 'bool' WHEN 4 THEN 'text' ELSE 'none' END"

// samplesSQL returns a query for all samples that the view holds, each point and time once.
func (s *Store) samplesSQL(v *view) string {
	var parts []string
	clean := part{}
	for _, d := range v.days {
		if d.table == "" {
			clean.days = append(clean.days, d)
		} else {
			parts = append(parts, s.daySQL(d))
		}
	}
	if files := s.filesOf(&clean); files != "" {
		parts = append(parts, "SELECT "+sampleColumns+" FROM read_parquet("+files+")")
	}
	if len(parts) == 0 {
		parts = append(parts, "SELECT "+sampleColumns+" FROM latest WHERE false")
	}
	return "SELECT p.path AS point, d.time, d.value, d.exact, d.text, " + kindWord + " AS kind, d.quality FROM (" +
		strings.Join(parts, " UNION ALL ") + ") d JOIN main.points p ON p.id = d.id"
}
