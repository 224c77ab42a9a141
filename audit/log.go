package audit

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/internal/descriptor"
	"voltbus/internal/sqlite"
)

//go:embed schema.sql
var schema string

const (
	version     = 1 // of a file without archived entries
	newest      = archiveVersion
	application = 0x56424155 // "VBAU": the file is an audit log
	readers     = 4
	tail        = 1000 // entries that Open checks
)

// Log is an open audit log. It is safe for concurrent use. Its methods return fault.Unavailable
// when the disk is full or the log closed, fault.Corrupt when the file is damaged.
type Log struct {
	*intake
	*shelf
	*reader
	db     *sql.DB
	file   string
	now    func() time.Time
	made   bool // the file did not exist when it was opened
	state  *state
	writer *writer
}

// Status is the state of a log.
type Status struct {
	Head    Head
	Segment uint64
	// Clean reports whether the log had been closed properly before it was opened; true for a new one.
	Clean bool
	// Damage describes the damaged or missing parts of the chain, "" if everything checked is intact.
	Damage string
	// Verified is when the whole chain was last followed; zero if not since Open.
	Verified time.Time
	// Lost counts entries of Offer that could not be written since Open. The log records their number, too.
	Lost uint64
	// Err is why the last entry could not be written, or the oldest ones not be archived; nil if they could.
	Err error
}

// Open opens the log in the data directory, and creates it with a first entry if absent. now is the clock. It
// checks only the end of the chain; Verify checks all of it. A damaged, truncated or missing chain is no
// error: it stays as it is, Status reports it, and the next entry begins a new segment with the reason. A
// file that SQLite cannot read is renamed. A file written by a newer program gives fault.Conflict. The caller
// closes the log.
func Open(ctx context.Context, dir string, now func() time.Time) (*Log, error) {
	file := filepath.Join(dir, File)
	l := &Log{file: file, now: now, intake: newIntake(now), state: &state{kept: map[string]Head{}}}
	err := l.open(ctx)
	if !fault.Is(err, fault.Corrupt) {
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	aside := file + ".damaged-" + now().UTC().Format("20060102T150405.000000")
	reason := fmt.Sprintf("the file could not be read (%v) and is now %s", err, filepath.Base(aside))
	if err := setAside(file, aside); err != nil {
		return nil, fault.E("audit.Open", fault.Corrupt, file, fmt.Errorf("is damaged and cannot be moved aside: %w", err))
	}
	l.state.note(reason, true)
	if err := l.open(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Log) open(ctx context.Context) error {
	_, err := os.Stat(l.file)
	l.made = l.made || errors.Is(err, fs.ErrNotExist)
	if err := private(l.file); err != nil {
		return wrap("audit.Open", l.file, err)
	}
	db, err := sqlite.Open(l.file, sqlite.Options{})
	if err != nil {
		return wrap("audit.Open", l.file, err)
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers) // they keep their file descriptors: others cannot exhaust these
	l.db = db
	l.writer = &writer{db: db, file: l.file, now: l.now, state: l.state, intake: l.intake, commit: make(chan struct{}, 1)}
	l.shelf = &shelf{writer: l.writer}
	l.reader = &reader{db: db, file: l.file, shelf: l.shelf}
	if err = prepare(ctx, db); err == nil {
		err = l.writer.prepareToPut(ctx)
	}
	if err == nil {
		l.shelf.archives, err = archivesOf(ctx, db, l.shelf.folder())
	}
	if err == nil {
		err = l.look(ctx)
	}
	if err != nil {
		return errors.Join(wrap("audit.Open", l.file, err), db.Close())
	}
	return nil
}

// private creates the file, if absent, readable only by its owner.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

var errForeign = errors.New("is an SQLite file, but no audit log")

// prepare creates the table in an empty file, and refuses a file of another kind.
func prepare(ctx context.Context, db *sql.DB) error {
	found, id, err := identify(ctx, db)
	switch {
	case err != nil:
		return err
	case id == application && found > newest:
		return fault.E("audit.Open", fault.Conflict, File, fmt.Errorf(
			"was written by a newer program (version %d, this one knows %d); use that one, or move the file away", found, newest))
	case id == application && found >= version:
		return nil
	}
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return errForeign
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, schema+fmt.Sprintf(`; PRAGMA user_version = %d; PRAGMA application_id = %d`, version, application))
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func identify(ctx context.Context, db *sql.DB) (found, id int, err error) {
	err = db.QueryRowContext(ctx, `SELECT user_version, application_id FROM pragma_user_version, pragma_application_id`).Scan(&found, &id)
	return found, id, err
}

// look finds where the log ends, and whether its end is unchanged.
func (l *Log) look(ctx context.Context) error {
	left, there, err := readAnchor(l.file)
	if descriptor.IsExhausted(err) {
		return err
	}
	if err != nil {
		l.state.note(err.Error(), true)
	}
	c := &checker{}
	if there {
		c.await(left.Head, Anchor)
	}
	if err := l.checkTail(ctx, c); err != nil {
		return err
	}
	head, segment, clean := c.last, max(c.segment, 1), !there && c.last.Seq == 0
	l.writer.anchor = left
	if there {
		clean = left.Closed
		c.expect(left, Anchor)
		segment = max(segment, left.Segment)
		if left.Seq > head.Seq {
			head = left.Head
		}
	} else if c.last.Seq > 0 {
		c.problem(c.last.Seq, "the file "+Anchor+", which says where the log ended, is gone")
	}
	l.state.begin(head, segment, clean)
	l.take(c)
	return nil
}

// take records the result of a check. Damage in the current segment makes the next entry begin another one;
// losses of earlier segments have already been recorded.
func (l *Log) take(c *checker) {
	c.compareAccepted()
	for i := range c.problems {
		p := &c.problems[i]
		if p.Accepted != "" {
			continue
		}
		l.state.note(p.String(), !p.told && p.Seq >= c.begins)
	}
}

// checkTail checks the last entries in the file.
func (l *Log) checkTail(ctx context.Context, c *checker) error {
	sealed := Archive{}
	if n := len(l.shelf.archives); n > 0 {
		sealed = l.shelf.archives[n-1]
	}
	var from sql.NullInt64
	var n int
	err := l.db.QueryRowContext(ctx, `SELECT min(seq), count(*) FROM (SELECT seq FROM entry WHERE seq > ? ORDER BY seq DESC LIMIT ?)`,
		int64(sealed.Last), tail).Scan(&from, &n)
	if err != nil {
		return err
	}
	c.midway = n == tail && uint64(from.Int64) > sealed.Last+1
	if !c.midway && sealed.Last > 0 {
		c.skip(&sealed)
	}
	return each(ctx, l.db, `WHERE seq > ? AND seq >= ? ORDER BY seq`, []any{int64(sealed.Last), from.Int64}, func(e *Entry) error {
		c.add(e)
		return nil
	})
}

func setAside(file, to string) error {
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(file+side, to+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(file, to)
}

// Status returns the state of the log. It does not wait for the disk.
func (l *Log) Status() Status {
	s := l.state.status()
	s.Err = cmpErr(s.Err, l.trouble())
	l.intake.mu.Lock()
	defer l.intake.mu.Unlock()
	s.Lost = l.lost
	return s
}

// Close writes pending entries, records where the log ends and closes the file. Later entries give
// fault.Unavailable.
func (l *Log) Close() error {
	l.writer.commit <- struct{}{}
	defer func() { <-l.writer.commit }()
	if l.intake.close() {
		return nil
	}
	err := l.writer.flush()
	if l.writer.wrote {
		err = errors.Join(err, l.writer.drop(true))
	}
	if e := l.db.Close(); e != nil {
		err = errors.Join(err, wrap("audit.Close", l.file, e))
	}
	return err
}
