// Package journal stores the state of control in its own SQLite file, so that commands do not wait for writers of the catalogue.
package journal

import (
	"context"
	"database/sql"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// File is the journal's name in the data directory.
const File = "control.db"

//go:embed schema.sql
var schema string

//go:embed turn.sql
var turnSchema string // added in version 3

const (
	version     = 3
	flat        = 2          // the version of a file without turns
	application = 0x56424354 // "VBCT": the file is a control journal

	// checkpoint is how many pages the write-ahead log collects, 16 MiB, before they are copied to the file.
	// The same pages recur, so the more collect, the fewer are copied.
	checkpoint = 4096
)

// Journal is the open file. It is safe for concurrent use. Its methods return fault.Unavailable when the
// disk is full or the journal closed, fault.Corrupt when the file is damaged.
type Journal struct {
	file string
	now  func() time.Time

	mu    sync.Mutex
	db    *sql.DB
	turns *turns
	does  statements
}

// Prepared statements.
type statements struct{ add, forget, put, drop *sql.Stmt }

// Open opens the journal in the data directory, and creates it if absent. For a damaged file Load returns
// fault.Corrupt; then SetAside starts over. A file written by a newer program gives fault.Conflict, one of
// another program fault.Corrupt. The caller closes the journal.
func Open(dir string, now func() time.Time) *Journal {
	return &Journal{file: filepath.Join(dir, File), now: now}
}

// Load returns the stored records.
func (j *Journal) Load(ctx context.Context) (control.State, error) {
	const op = "journal.Load"
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.open(ctx); err != nil {
		return control.State{}, wrap(op, j.file, err)
	}
	rows, err := j.db.QueryContext(ctx, `SELECT kind, key, data FROM record ORDER BY kind, key`)
	if err != nil {
		return control.State{}, wrap(op, j.file, err)
	}
	defer rows.Close()
	state := control.State{Version: control.Version, Time: j.now().UTC()}
	for rows.Next() {
		var r control.Record
		var data []byte
		if err := rows.Scan(&r.Kind, &r.Key, &data); err != nil {
			return control.State{}, wrap(op, j.file, err)
		}
		r.Data = json.RawMessage(data)
		state.Records = append(state.Records, r)
	}
	state.Records = j.turns.onto(state.Records)
	return state, wrap(op, j.file, rows.Err())
}

// open opens the file unless it is open.
func (j *Journal) open(ctx context.Context) error {
	if j.db != nil {
		return nil
	}
	f, err := os.OpenFile(j.file, os.O_RDWR|os.O_CREATE, 0o600) // readable only by its owner
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sqlite.Open(j.file, sqlite.Options{Checkpoint: checkpoint})
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if err = prepare(ctx, db); err == nil {
		err = j.does.prepare(ctx, db)
	}
	if err == nil {
		j.turns, err = readTurns(ctx, db)
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	j.db = db
	return nil
}

var (
	errForeign = errors.New("is an SQLite file, but not the state of control")
	errCheck   = errors.New("the file fails its check")
)

// prepare creates the table in an empty file, and refuses a file of another kind.
func prepare(ctx context.Context, db *sql.DB) error {
	found, err := sqlite.Inspect(ctx, db)
	switch {
	case err != nil:
		return err
	case found.Damage != "":
		return fmt.Errorf("%w: %s", errCheck, found.Damage)
	case found.Application == application && found.Version > version:
		return fault.E("journal.Load", fault.Conflict, File, fmt.Errorf(
			"was written by a newer program (version %d, this one knows %d); use that one, or move the file away", found.Version, version))
	case found.Application == application && found.Version == version:
		return nil
	case found.Application == application: // one that was closed, or of versions with records only; the first version stored each answer individually, which package control still reads
		return define(ctx, db, turnSchema)
	case found.Tables > 0:
		return fault.E("journal.Load", fault.Corrupt, File, errForeign)
	}
	return define(ctx, db, schema+turnSchema)
}

// define creates tables in a file without turns.
func define(ctx context.Context, db *sql.DB, tables string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, tables+fmt.Sprintf(`; PRAGMA user_version = %d; PRAGMA application_id = %d`, flat, application))
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (s *statements) prepare(ctx context.Context, db *sql.DB) (err error) {
	for _, one := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&s.add, `INSERT INTO turn (number, data) VALUES (?, ?)`},
		{&s.forget, `DELETE FROM turn WHERE number <= ?`},
		{&s.put, `INSERT OR REPLACE INTO record (kind, key, data) VALUES (?, ?, ?)`},
		{&s.drop, `DELETE FROM record WHERE kind = ? AND key = ?`},
	} {
		if *one.stmt, err = db.PrepareContext(ctx, one.text); err != nil {
			return err
		}
	}
	return nil
}

// SetAside renames the file and starts over.
func (j *Journal) SetAside(ctx context.Context) (string, error) {
	const op = "journal.SetAside"
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.close(); err != nil {
		return "", wrap(op, j.file, err)
	}
	aside := j.file + ".damaged-" + j.now().UTC().Format("20060102T150405.000000")
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(j.file+side, aside+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", wrap(op, j.file, err)
		}
	}
	if err := os.Rename(j.file, aside); err != nil {
		return "", wrap(op, j.file, err)
	}
	return aside, wrap(op, j.file, j.open(ctx))
}

// Close closes the file, in a form that programs of the previous version can read.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.db != nil {
		err = j.flatten(context.Background())
	}
	return wrap("journal.Close", j.file, errors.Join(err, j.close()))
}

// flatten turns all turns into records. The file then has the previous version, which has no turns.
func (j *Journal) flatten(ctx context.Context) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if len(j.turns.list) > 0 {
		err = j.settle(ctx, tx, j.turns.list)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, flat))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (j *Journal) close() error {
	if j.db == nil {
		return nil
	}
	err := j.db.Close()
	j.db, j.turns, j.does = nil, nil, statements{}
	return err
}

var errClosed = errors.New("the state of control is closed")

// Keep stores records over those of the same kind and key, and removes those without data, all or none. They
// are on disk when it returns. The journal takes ownership of the records.
func (j *Journal) Keep(ctx context.Context, records []control.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.db == nil {
		return fault.E("journal.Keep", fault.Unavailable, j.file, errClosed)
	}
	return wrap("journal.Keep", j.file, j.keep(ctx, records))
}

// keep adds a turn, and turns those for which there is no more room into records.
func (j *Journal) keep(ctx context.Context, records []control.Record) error {
	data := writeTurn(records)
	next := turn{number: j.turns.last + 1, size: len(data), records: records}
	over := j.turns.over(next.size)
	j.turns.claim(&next)
	if err := j.write(ctx, j.turns.list[:over], next.number, data); err != nil {
		j.turns.giveUp()
		return err
	}
	j.turns.forget(over)
	j.turns.add(next)
	return nil
}

// write replaces the oldest turns by a new one, in one transaction.
func (j *Journal) write(ctx context.Context, oldest []turn, number int64, data []byte) error {
	tx, err := j.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if len(oldest) > 0 {
		err = j.settle(ctx, tx, oldest)
	}
	if err == nil && len(j.turns.list) == 0 { // the file may be one without turns
		_, err = tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, version))
	}
	if err == nil {
		_, err = tx.StmtContext(ctx, j.does.add).ExecContext(ctx, number, data)
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// settle stores as records what the oldest turns contain and no later one replaces, and removes those turns.
func (j *Journal) settle(ctx context.Context, tx *sql.Tx, oldest []turn) error {
	put, drop := tx.StmtContext(ctx, j.does.put), tx.StmtContext(ctx, j.does.drop)
	for i := range oldest {
		t := &oldest[i]
		for k := range t.records {
			r := &t.records[k]
			var err error
			switch {
			case !j.turns.counts(t, r):
			case r.Data == nil:
				_, err = drop.ExecContext(ctx, r.Kind, r.Key)
			default:
				_, err = put.ExecContext(ctx, r.Kind, r.Key, string(r.Data))
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := tx.StmtContext(ctx, j.does.forget).ExecContext(ctx, oldest[len(oldest)-1].number)
	return err
}
