package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Filter selects entries. A zero field selects all.
type Filter struct {
	From, To time.Time     // From is in, To is not
	Actor    point.Pattern // such as "person:*"
	Action   point.Pattern // such as "person.*"
	Subject  point.Pattern
	Text     string // in any field, without regard to case
	Before   uint64 // entries with smaller numbers: where a page before ended
	Limit    int    // of a page
}

var errLimit = errors.New("a page has 1 to 10000 entries")

// maxPage is the most entries of a page.
const maxPage = 10_000

func (f *Filter) match(e *Entry) bool {
	if !f.Actor.Match(point.Path(e.Actor)) || !f.Action.Match(point.Path(e.Action)) || !f.Subject.Match(point.Path(e.Subject)) {
		return false
	}
	if f.Text == "" {
		return true
	}
	text := strings.ToLower(f.Text)
	for _, in := range []string{e.Actor, e.Action, e.Subject, e.Outcome, string(e.Detail)} {
		if strings.Contains(strings.ToLower(in), text) {
			return true
		}
	}
	return false
}

// where writes the part of the filter that the file can judge.
func (f *Filter) where() (string, []any) {
	terms, args := []string{"1"}, []any{}
	term := func(t string, arg any) { terms, args = append(terms, t), append(args, arg) }
	if !f.From.IsZero() {
		term("time >= ?", f.From.UnixMicro())
	}
	if !f.To.IsZero() {
		term("time < ?", f.To.UnixMicro())
	}
	if f.Before > 0 {
		term("seq < ?", int64(f.Before))
	}
	return "WHERE " + strings.Join(terms, " AND "), args
}

var errEnough = errors.New("enough")

// List returns the newest entries that the filter selects, the newest first, and the Before of the
// next page, 0 if there is none.
func (l *Log) List(ctx context.Context, f Filter) (entries []Entry, next uint64, err error) {
	if f.Limit < 1 || f.Limit > maxPage {
		return nil, 0, fault.E("audit.List", fault.Invalid, "limit", errLimit)
	}
	where, args := f.where()
	err = each(ctx, l.db, where+` ORDER BY seq DESC`, args, func(e *Entry) error {
		if !f.match(e) {
			return nil
		}
		if len(entries) == f.Limit {
			next = entries[len(entries)-1].Seq
			return errEnough
		}
		entries = append(entries, *e)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, wrap("audit.List", l.file, err)
	}
	return entries, next, nil
}

// Export calls emit with each entry that the filter selects, the oldest first, until emit fails.
// Limit does not count.
func (l *Log) Export(ctx context.Context, f Filter, emit func(*Entry) error) error {
	where, args := f.where()
	var failed error
	err := each(ctx, l.db, where+` ORDER BY seq`, args, func(e *Entry) error {
		if f.match(e) {
			failed = emit(e)
		}
		return failed
	})
	if failed != nil {
		return failed
	}
	return wrap("audit.Export", l.file, err)
}

// each reads entries. The entry is used again after f has returned.
func each(ctx context.Context, db *sql.DB, where string, args []any, f func(*Entry) error) error {
	rows, err := db.QueryContext(ctx, `SELECT seq, segment, time, actor, action, subject, outcome, detail, hash FROM entry `+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var hash, detail sql.RawBytes
	for rows.Next() {
		var e Entry
		var seq, segment, at int64
		if err := rows.Scan(&seq, &segment, &at, &e.Actor, &e.Action, &e.Subject, &e.Outcome, &detail, &hash); err != nil {
			return err
		}
		e.Seq, e.Segment, e.Time = uint64(seq), uint64(segment), time.UnixMicro(at).UTC()
		if copy(e.Hash[:], hash); len(hash) != len(e.Hash) {
			e.Hash = Hash{} // fits nothing
		}
		if len(detail) > 0 {
			e.Detail = json.RawMessage(string(detail))
		}
		if err := f(&e); err != nil {
			return err
		}
	}
	return rows.Err()
}
