package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

const (
	rowsAtOnce = 32 // rows of one statement
	apart      = 2  // distance to a similar row
)

// put is a prepared statement for some rows. Most of a row's cost is passing its strings. Rows with the same
// actor, action and outcome use a statement that takes these once. They may alternate with others, as
// commands do with the ends of those that they replace.
type put struct {
	rows  int
	alike bool
	stmt  *sql.Stmt
}

// prepareToPut prepares the statements, preferred ones first.
func (w *writer) prepareToPut(ctx context.Context) error {
	w.puts = nil // they belonged to a file that was set aside
	for _, p := range []put{{rows: rowsAtOnce, alike: true}, {rows: rowsAtOnce}, {rows: rowsAtOnce / 8}, {rows: 1}} {
		var err error
		if p.stmt, err = w.db.PrepareContext(ctx, p.text()); err != nil {
			return err
		}
		w.puts = append(w.puts, p)
	}
	return nil
}

const columns = `seq, segment, time, actor, action, subject, outcome, detail, hash`

// text returns the statement. Rows after the first refer to the first rows' parameters by number.
func (p *put) text() string {
	var b strings.Builder
	for i := range p.rows {
		if p.alike && i >= apart {
			first := 9 * (i % apart)
			fmt.Fprintf(&b, `,(?1+%d,?2,?,?%d,?%d,?,?%d,?,?)`, i, first+4, first+5, first+7)
		} else {
			b.WriteString(`,(?,?,?,?,?,?,?,?,?)`)
		}
	}
	return `INSERT INTO entry (` + columns + `) VALUES ` + b.String()[1:]
}

// fits reports whether the statement can insert the first entries.
func (p *put) fits(entries []*Entry) bool {
	if len(entries) < p.rows {
		return false
	}
	for i := apart; p.alike && i < p.rows; i++ {
		if !entries[i].alike(entries[i-apart]) {
			return false
		}
	}
	return true
}

func (e *Entry) alike(other *Entry) bool {
	return e.Segment == other.Segment && e.Actor == other.Actor && e.Action == other.Action && e.Outcome == other.Outcome
}

// args appends the statement's arguments. Entries of a batch are numbered without gaps.
func (p *put) args(args []any, entries []*Entry) []any {
	for i, e := range entries {
		if p.alike && i >= apart {
			args = append(args, e.Time.UnixMicro(), e.Subject, string(e.Detail), e.Hash[:])
		} else {
			args = append(args, int64(e.Seq), int64(e.Segment), e.Time.UnixMicro(), e.Actor, e.Action, e.Subject, e.Outcome, string(e.Detail), e.Hash[:])
		}
	}
	return args
}

// insert writes the entries of a batch, and its other changes, in one transaction.
func (w *writer) insert(entries []*Entry, batch []*item) (err error) {
	ctx := context.Background() // accepted entries are written, whether or not callers still wait
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	stmts := make([]*sql.Stmt, len(w.puts))
	for i := range w.puts {
		stmts[i] = tx.StmtContext(ctx, w.puts[i].stmt)
	}
	args := make([]any, 0, 9*rowsAtOnce)
	for len(entries) > 0 {
		i := 0
		for !w.puts[i].fits(entries) { // the last one takes a single entry
			i++
		}
		p := &w.puts[i]
		if _, err := stmts[i].ExecContext(ctx, p.args(args, entries[:p.rows])...); err != nil {
			return err
		}
		entries = entries[p.rows:]
	}
	for _, it := range batch {
		if it.change != nil {
			if err := it.change(tx); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
