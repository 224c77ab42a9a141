// Package catalog keeps what the node knows about its points, and who may use it, in one SQLite
// file; the points also in memory, where they are read. It holds no samples: those are in the store.
package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the database driver "sqlite"

	"voltbus/catalog/register"
	"voltbus/fault"
)

// File is the catalogue's name in the data directory.
const File = "catalog.sqlite"

// readers is how many connections may be open: reads run beside each other and beside a write.
const readers = 4

// Catalog is the open catalogue. It is safe for concurrent use. Methods return fault.Unavailable
// when the disk is full, fault.Corrupt when the file is damaged, fault.Invalid for wrong
// arguments. Times are kept in microseconds, UTC.
type Catalog struct {
	db      *sql.DB
	points  *register.Register
	blocks  blocks     // of those who write
	notes   notes      // of writes with a key
	writing sync.Mutex // SQLite has one writer; queueing here is fair and needs no retries
	damage  *Damage
	now     func() time.Time

	credential *sql.Stmt // by its hash
}

// Damage tells that the catalogue could not be read when it was opened: it was set aside and an
// empty one took its place. Points come back as devices start; tokens other than the local
// administrator's have to be made again.
type Damage struct {
	File    string // where the damaged file is now
	Reason  string
	Noticed time.Time
}

// Open opens the catalogue in the data directory, and makes it if absent. now is the clock. A
// damaged file is renamed aside and replaced, see Damage; one that a newer program wrote gives
// fault.Conflict. Close it after use.
func Open(ctx context.Context, dir string, now func() time.Time) (*Catalog, error) {
	file := filepath.Join(dir, File)
	c, err := open(ctx, file, now)
	if !fault.Is(err, fault.Corrupt) {
		return c, err
	}
	damage := &Damage{
		File:   file + ".damaged-" + now().UTC().Format("20060102T150405"),
		Reason: err.Error(), Noticed: now(),
	}
	if err := setAside(file, damage.File); err != nil {
		return nil, fault.E("catalog.Open", fault.Corrupt, file, fmt.Errorf(
			"is damaged (%s) and cannot be moved aside: %w", damage.Reason, err))
	}
	c, err = open(ctx, file, now)
	if err != nil {
		return nil, err
	}
	c.damage = damage
	return c, nil
}

func open(ctx context.Context, file string, now func() time.Time) (*Catalog, error) {
	if err := private(file); err != nil {
		return nil, wrap("catalog.Open", file, err)
	}
	db, err := sql.Open("sqlite", source(file))
	if err != nil {
		return nil, wrap("catalog.Open", file, err)
	}
	db.SetMaxOpenConns(readers)
	c := &Catalog{db: db, points: register.New(), notes: newNotes(), now: now}
	err = c.check(ctx)
	if err == nil {
		err = c.migrate(ctx)
	}
	if err == nil {
		err = c.load(ctx)
	}
	if err == nil {
		err = c.takeRows(ctx)
	}
	if err == nil {
		c.credential, err = db.PrepareContext(ctx, selectCredential+`WHERE hash = ?`)
	}
	if err == nil {
		err = c.notes.prepare(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(wrap("catalog.Open", file, err), db.Close())
	}
	return c, nil
}

// private makes the file, if absent, so that only its owner can read it; SQLite gives its side
// files the same permissions.
func private(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func source(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(file)}
	return u.String() + "?_txlock=immediate" +
		"&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)"
}

var errCheck = errors.New("the file fails its check")

func (c *Catalog) check(ctx context.Context) error {
	var verdict string
	if err := c.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict); err != nil {
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
func (c *Catalog) Damage() *Damage { return c.damage }

// Close closes the file.
func (c *Catalog) Close() error {
	_ = c.writeRows(context.Background()) // they serve an older program only; the disk may be full
	if err := c.db.Close(); err != nil {
		return wrap("catalog.Close", File, err)
	}
	return nil
}

// write runs f in a transaction that is committed if f returns nil.
func (c *Catalog) write(ctx context.Context, f func(*sql.Tx) error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.transact(ctx, f)
}

// transact is write for who holds writing.
func (c *Catalog) transact(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
