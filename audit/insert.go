package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

const (
	rowsAtOnce = 32 // of one statement
	apart      = 2  // rows from one that is alike
)

// put is a statement for some rows, prepared once. Most of what a row costs is the passing of its texts. Rows
// that are alike in who did what and how it ended have a statement that takes those once. They may
// alternate with others, as commands do with the ends of those that they replace.
type put struct {
	rows  int
	alike bool
	stmt  *sql.Stmt
}

// prepareToPut makes the statements, those that are preferred first.
func (w *writer) prepareToPut(ctx context.Context) error {
	w.puts = nil // of a file that was set aside
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

// text returns the statement. Rows behind the first ones refer to the parameters of those by number.
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

// fits reports whether the statement takes the first of the entries.
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

// args appends what the statement takes. Entries of a batch are numbered without gaps.
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

// insert writes the entries of a batch, and what else it changes, in one transaction.
func (w *writer) insert(entries []*Entry, batch []*item) (err error) {
	ctx := context.Background() // what was taken is written, whoever waits for it
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
