package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Filter selects entries. A zero field selects all.
type Filter struct {
	From, To time.Time     // From is included, To is not
	Actor    point.Pattern // such as "person:*"
	Action   point.Pattern // such as "person.*"
	Subject  point.Pattern
	Text     string // in any field, case-insensitively
	Before   uint64 // entries with smaller numbers: where the previous page ended
	Limit    int    // entries per page
}

var errLimit = errors.New("a page has 1 to 10000 entries")

// maxPage is the maximum number of entries on a page.
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

// where writes the part of the filter that the database evaluates.
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

// reader reads the entries of a log and its archives. It is safe for concurrent use.
type reader struct {
	db    *sql.DB
	file  string
	shelf *shelf
}

// List returns the newest entries that the filter selects, including those of the archives in the folder, newest
// first, and the Before of the next page, 0 if there is none.
func (r *reader) List(ctx context.Context, f Filter) (entries []Entry, next uint64, err error) {
	if f.Limit < 1 || f.Limit > maxPage {
		return nil, 0, fault.E("audit.List", fault.Invalid, "limit", errLimit)
	}
	take := func(e *Entry) error {
		if !f.match(e) {
			return nil
		}
		if len(entries) == f.Limit {
			next = entries[len(entries)-1].Seq
			return errEnough
		}
		entries = append(entries, *e)
		return nil
	}
	err = r.backwards(ctx, &f, take)
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, wrap("audit.List", r.file, err)
	}
	return entries, next, nil
}

// backwards passes on entries that a filter may select, newest first, from the file and then from archives.
func (r *reader) backwards(ctx context.Context, f *Filter, take func(*Entry) error) error {
	db, end, err := snapshot(ctx, r.db)
	if err != nil {
		return err
	}
	defer end()
	archives, err := archivesOf(ctx, db, r.shelf.folder())
	if err != nil {
		return err
	}
	where, args := f.where()
	if err := each(ctx, db, where+` AND seq > ? ORDER BY seq DESC`, append(args, int64(endOf(archives).Seq)), take); err != nil {
		return err
	}
	for i := range slices.Backward(archives) {
		a := &archives[i]
		if !a.Here || !f.reaches(a) {
			continue
		}
		found, err := r.newestOf(ctx, a, f)
		for i := range slices.Backward(found) {
			if err := take(&found[i]); err != nil {
				return err
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.E("audit.List", fault.Corrupt, a.File, err)
		}
	}
	return nil
}

// newestOf returns the newest entries of an archive that the filter selects, at most one page, oldest first.
func (r *reader) newestOf(ctx context.Context, a *Archive, f *Filter) (found []Entry, err error) {
	_, _, err = readArchive(ctx, r.shelf.archiveFile(a), func(e *Entry) error {
		if !f.within(e) || !f.match(e) {
			return nil
		}
		if found = append(found, *e); len(found) > 2*(f.Limit+1) {
			found = append(found[:0], found[len(found)-f.Limit-1:]...)
		}
		return nil
	})
	return found, err
}

// Absent lists archives that may contain entries that the filter selects, and that are not in the folder.
func (r *reader) Absent(f Filter) (list []Archive) {
	for _, a := range r.shelf.Archives() {
		if !a.Here && f.reaches(&a) {
			list = append(list, a)
		}
	}
	return list
}

// reaches reports whether an archive may have entries that the filter selects.
func (f *Filter) reaches(a *Archive) bool {
	return (f.Before == 0 || a.First < f.Before) && (f.From.IsZero() || !a.To.Before(f.From)) && (f.To.IsZero() || a.From.Before(f.To))
}

// within checks for an entry what where checks in the database.
func (f *Filter) within(e *Entry) bool {
	return (f.From.IsZero() || !e.Time.Before(f.From)) && (f.To.IsZero() || e.Time.Before(f.To)) && (f.Before == 0 || e.Seq < f.Before)
}

var errAbsent = errors.New("it is not there: put it back, or ask for later entries")

// Export calls emit with each entry that the filter selects, oldest first, until emit fails. It ignores Limit.
// A required archive that was taken away gives fault.NotFound before anything else; those removed at the end of
// their retention period are skipped.
func (r *reader) Export(ctx context.Context, f Filter, emit func(*Entry) error) error {
	db, end, err := snapshot(ctx, r.db)
	if err != nil {
		return wrap("audit.Export", r.file, err)
	}
	defer end()
	archives, err := archivesOf(ctx, db, r.shelf.folder())
	if err != nil {
		return wrap("audit.Export", r.file, err)
	}
	var failed error
	take := func(e *Entry) error {
		if f.within(e) && f.match(e) {
			failed = emit(e)
		}
		return failed
	}
	archives = slices.DeleteFunc(archives, func(a Archive) bool { return a.Removed })
	for i := range archives {
		if a := &archives[i]; !a.Here && f.reaches(a) {
			return fault.E("audit.Export", fault.NotFound, a.File, fmt.Errorf("%v: %w", a, errAbsent))
		}
	}
	for i := range archives {
		if !f.reaches(&archives[i]) {
			continue
		}
		_, _, err := readArchive(ctx, r.shelf.archiveFile(&archives[i]), take)
		if failed != nil {
			return failed
		}
		if err != nil {
			return fault.E("audit.Export", fault.Corrupt, archives[i].File, err)
		}
	}
	where, args := f.where()
	err = each(ctx, db, where+` AND seq > ? ORDER BY seq`, append(args, int64(endOf(archives).Seq)), take)
	if failed != nil {
		return failed
	}
	return wrap("audit.Export", r.file, err)
}

// queries is a database, or a snapshot of it.
type queries interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// snapshot returns the current state of the file; end releases it.
func snapshot(ctx context.Context, db *sql.DB) (at queries, end func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := conn.ExecContext(ctx, `BEGIN DEFERRED`); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, func() { //nolint:contextcheck // ends the snapshot, whoever waits
		_, _ = conn.ExecContext(context.Background(), `ROLLBACK`) // nothing was changed
		_ = conn.Close()
	}, nil
}

// each reads entries. The entry is used again after f has returned.
func each(ctx context.Context, db queries, where string, args []any, f func(*Entry) error) error {
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
			e.Hash = Hash{} // matches nothing
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
