package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// readers is how many connections may be open: reads run concurrently with each other and with a write.
const readers = 4

// file is the SQLite file that the parts of a catalogue share.
type file struct {
	db      *sql.DB
	writing sync.Mutex // SQLite has one writer; queueing here is fair and needs no retries
	damage  *Damage
	now     func() time.Time
}

// openFile opens the file, checks it, and upgrades it to the newest version.
func openFile(ctx context.Context, name string, now func() time.Time) (*file, error) {
	if err := private(name); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(name, sqlite.Options{ForeignKeys: true})
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	f := &file{db: db, now: now}
	if err = f.check(ctx); err == nil {
		err = f.migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return f, nil
}

// private creates the file, if absent, readable only by its owner; SQLite gives its side files the same
// permissions.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

var errCheck = errors.New("the file fails its check")

func (f *file) check(ctx context.Context) error {
	var verdict string
	if err := f.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errCheck, verdict)
	}
	return nil
}

func setAside(file, to string) error {
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(file+side, to+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(file, to)
}

// Damage returns what was set aside when the catalogue was opened, or nil.
func (f *file) Damage() *Damage { return f.damage }

// write runs do in a transaction that is committed if do returns nil.
func (f *file) write(ctx context.Context, do func(*sql.Tx) error) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	return f.transact(ctx, do)
}

// transact is write for callers that hold writing.
func (f *file) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// exec runs a statement that changes something.
func (f *file) exec(ctx context.Context, op, subject, statement string, args ...any) error {
	err := f.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("change the catalogue: %w", err)
		}
		return nil
	})
	return wrap(op, subject, err)
}

// drop deletes what the statement names; none is the error if there was nothing to delete.
func (f *file) drop(ctx context.Context, op, statement, name string, none error) error {
	err := f.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, statement, name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fault.E(op, fault.NotFound, name, none)
	})
	return wrap(op, name, err)
}
