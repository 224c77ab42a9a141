// Package storage keeps the states of alarms, their history and the position in the log up to which readings were looked at, in one SQLite
// file. What belongs together is written in one transaction.
package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/alarm"
	"voltbus/fault"
	"voltbus/internal/quarantine"
	"voltbus/internal/sqlite"
	"voltbus/point"
)

// File is the name of the file in the data directory.
const File = "alarms.db"

const (
	version     = 1
	application = 0x5642414C // "VBAL"
	// most is how many transitions are kept; older ones are forgotten.
	most = 1_000_000
)

const schema = `
CREATE TABLE alarm (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE position (one INTEGER PRIMARY KEY CHECK (one = 1), log TEXT NOT NULL, sequence INTEGER NOT NULL);
CREATE TABLE transition (
	number INTEGER PRIMARY KEY, at INTEGER NOT NULL, alarm TEXT NOT NULL, rule TEXT NOT NULL, point TEXT NOT NULL, event TEXT NOT NULL,
	before TEXT NOT NULL, after TEXT NOT NULL, by TEXT NOT NULL, note TEXT NOT NULL, priority TEXT NOT NULL, text TEXT NOT NULL,
	value TEXT NOT NULL, first INTEGER NOT NULL
);
CREATE INDEX transition_at ON transition (at);
CREATE INDEX transition_alarm ON transition (alarm, number);
`

var errClosed = errors.New("the node stops")

// Storage is the open file. It is safe for concurrent use.
type Storage struct {
	file string
	db   *sql.DB
	mu   sync.Mutex // SQLite has one writer
}

// Open opens the file in the data directory, and creates it if it is absent. A damaged one is set aside, and a new one begun. Close it after use.
func Open(ctx context.Context, dir string, now time.Time) (*Storage, error) {
	s := &Storage{file: filepath.Join(dir, File)}
	err := s.open(ctx)
	if fault.Is(err, fault.Corrupt) {
		if err := quarantine.Database(s.file, now); err != nil {
			return nil, fault.E("alarms.Open", fault.Corrupt, s.file, fmt.Errorf("is damaged and cannot be moved aside: %w", err))
		}
		err = s.open(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Storage) open(ctx context.Context) error {
	f, err := os.OpenFile(s.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return s.wrap("alarms.Open", err)
	}
	if s.db, err = sqlite.Open(s.file, sqlite.Options{}); err != nil {
		return s.wrap("alarms.Open", err)
	}
	s.db.SetMaxOpenConns(2)
	err = s.prepare(ctx)
	if err == nil {
		_, err = s.db.ExecContext(ctx, told)
	}
	if err != nil {
		return errors.Join(s.wrap("alarms.Open", err), s.db.Close())
	}
	return nil
}

var errForeign = errors.New("is an SQLite file, but not that of the alarms; move it away")

func (s *Storage) prepare(ctx context.Context) error {
	found, err := sqlite.Inspect(ctx, s.db)
	switch {
	case err != nil:
		return err
	case found.Damage != "":
		return fault.E("alarms.Open", fault.Corrupt, s.file, errors.New("fails its check: "+found.Damage))
	case found.Tables == 0:
		_, err = s.db.ExecContext(ctx, "BEGIN;"+schema+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", application, version))
		return err
	case found.Application != application:
		return fault.E("alarms.Open", fault.Corrupt, s.file, errForeign)
	case found.Version > version:
		return fault.E("alarms.Open", fault.Conflict, s.file, fmt.Errorf("was written by a newer program (version %d, this one knows %d)", found.Version, version))
	}
	return nil
}

// Close closes the file.
func (s *Storage) Close() error { return s.db.Close() }

func (s *Storage) wrap(op string, err error) error {
	file := sqlite.File{
		Name: "the file of the alarms", Damaged: "a restart sets it aside and begins a new one", Missing: "start the node again",
		Closed: errClosed, Other: fault.Internal, Fixed: true,
	}
	return file.Error(op, s.file, err)
}

// Position is how far a log was looked at.
type Position struct {
	Log      string
	Sequence uint64
}

// Load returns the states of the alarms and the position; a zero position before the first Save.
func (s *Storage) Load(ctx context.Context) (list []alarm.Alarm, at Position, err error) {
	const op = "alarms.Load"
	rows, err := s.db.QueryContext(ctx, `SELECT state FROM alarm ORDER BY id`)
	if err != nil {
		return nil, at, s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		var a alarm.Alarm
		if err := rows.Scan(&text); err != nil {
			return nil, at, s.wrap(op, err)
		}
		if err := json.Unmarshal(text, &a); err != nil {
			return nil, at, fault.E(op, fault.Corrupt, s.file, err)
		}
		list = append(list, a)
	}
	if err := rows.Err(); err != nil {
		return nil, at, s.wrap(op, err)
	}
	err = s.db.QueryRowContext(ctx, `SELECT log, sequence FROM position`).Scan(&at.Log, &at.Sequence)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return list, at, s.wrap(op, err)
}

// Save writes what changed, and the position after it, all or nothing.
func (s *Storage) Save(ctx context.Context, c *alarm.Changes, at Position) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap("alarms.Save", err)
	}
	err = save(ctx, tx, c, at)
	if err != nil {
		_ = tx.Rollback() // on a full disk SQLite has done so itself, and says that there is nothing to roll back
		return s.wrap("alarms.Save", err)
	}
	return s.wrap("alarms.Save", tx.Commit())
}

func save(ctx context.Context, tx *sql.Tx, c *alarm.Changes, at Position) error {
	for i := range c.Kept {
		text, err := json.Marshal(&c.Kept[i])
		if err != nil {
			return err
		}
		const put = `INSERT INTO alarm (id, state) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state`
		if _, err := tx.ExecContext(ctx, put, string(c.Kept[i].ID), text); err != nil {
			return err
		}
	}
	for _, id := range c.Gone {
		if _, err := tx.ExecContext(ctx, `DELETE FROM alarm WHERE id = ?`, string(id)); err != nil {
			return err
		}
	}
	if err := add(ctx, tx, c.Transitions); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO position (one, log, sequence) VALUES (1, ?, ?)
		ON CONFLICT (one) DO UPDATE SET log = excluded.log, sequence = excluded.sequence`, at.Log, int64(at.Sequence)) //nolint:gosec // a log has fewer
	return err
}

func add(ctx context.Context, tx *sql.Tx, list []alarm.Transition) error {
	if len(list) == 0 {
		return nil
	}
	in, err := tx.PrepareContext(ctx, `INSERT INTO transition (at, alarm, rule, point, event, before, after, by, note, priority, text, value, first)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer in.Close()
	for i := range list {
		t := &list[i]
		_, err := in.ExecContext(ctx, t.At.UnixMicro(), string(t.Alarm), t.Rule, string(t.Point), string(t.Event), string(t.From), string(t.To),
			t.By, t.Note, string(t.Priority), t.Text, t.Value, t.First)
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM transition WHERE number <= (SELECT max(number) FROM transition) - ?`, most)
	return err
}

// Query selects transitions.
type Query struct {
	Alarm  alarm.ID  // "" for all
	Rule   string    // "" for all
	Point  string    // "" for all
	From   time.Time // zero: from the oldest
	To     time.Time // zero: to the newest
	Before int64     // only those with a smaller number; 0 for all
	Limit  int       // 0 for all
}

// Entry is a transition of the history.
type Entry struct {
	Number int64 // it grows with each
	alarm.Transition
}

// History calls emit with transitions, the newest first.
func (s *Storage) History(ctx context.Context, q Query, emit func(*Entry)) error {
	const op = "alarms.History"
	text := `SELECT number, at, alarm, rule, point, event, before, after, by, note, priority, text, value, first FROM transition
		WHERE (?1 = '' OR alarm = ?1) AND (?2 = '' OR rule = ?2) AND (?3 = '' OR point = ?3) AND at >= ?4 AND at < ?5 AND number < ?6
		ORDER BY number DESC LIMIT ?7`
	to, before, limit := int64(1)<<62, int64(1)<<62, -1
	if !q.To.IsZero() {
		to = q.To.UnixMicro()
	}
	if q.Before > 0 {
		before = q.Before
	}
	if q.Limit > 0 {
		limit = q.Limit
	}
	from := int64(0)
	if !q.From.IsZero() {
		from = q.From.UnixMicro()
	}
	rows, err := s.db.QueryContext(ctx, text, string(q.Alarm), q.Rule, q.Point, from, to, before, limit)
	if err != nil {
		return s.wrap(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var at int64
		var path string
		if err := rows.Scan(&e.Number, &at, &e.Alarm, &e.Rule, &path, &e.Event, &e.From, &e.To, &e.By, &e.Note, &e.Priority, &e.Text, &e.Value, &e.First); err != nil {
			return s.wrap(op, err)
		}
		e.At, e.Point = time.UnixMicro(at).UTC(), point.Path(path)
		emit(&e)
	}
	return s.wrap(op, rows.Err())
}
