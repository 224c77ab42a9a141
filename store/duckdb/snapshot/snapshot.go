// Package snapshot saves the newest samples of a history in a file next to its database, so that a start reads only what has arrived
// since. The database records which file it is, and which rows of which tables it covers: if the file does not match, the tables are
// read instead.
package snapshot

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/newest"
)

// Schema creates the tables that describe the file.
const Schema = `CREATE TABLE IF NOT EXISTS newest_file(file VARCHAR, bytes BIGINT, checksum UBIGINT, files UBIGINT);
CREATE TABLE IF NOT EXISTS newest_table(stored VARCHAR, rows UBIGINT, overwritten UBIGINT)`

// Keeper writes and reads the file. One goroutine uses it at a time, with the connection that changes the database.
type Keeper struct {
	dir   string
	log   *slog.Logger
	name  string // of the file; "" if there is none
	files uint64 // the days' files at the time of writing, see Days.sum
	since uint64 // samples stored since then
}

// New returns a keeper of a directory.
func New(dir string, log *slog.Logger) *Keeper { return &Keeper{dir: dir, log: log} }

// Days are the locations of the history's samples.
type Days struct {
	Files  []string           // names of the files of closed days, in any order
	Tables map[string]Covered // the tables of open days
}

// Covered is the part of a day's table that has been read: how many rows from its beginning, and how many of them
// replaced a different sample.
type Covered struct{ Rows, Overwritten uint64 }

// The newest samples are written after so many samples, and so many for each point.
const (
	manySamples = 2 << 20
	manyPerName = 4
)

// names are the names of the file: one is in use while the other one is written.
var names = [...]string{"newest.1", "newest.2"}

// Note records that so many samples were stored.
func (k *Keeper) Note(samples uint64) { k.since += samples }

// Due reports whether enough samples have arrived to write the newest samples of so many points.
func (k *Keeper) Due(points int) bool {
	return k.since >= max(manySamples, manyPerName*uint64(points))
}

// Stale reports whether the days' files have changed since the newest samples were written.
func (k *Keeper) Stale(days Days) bool { return k.files != days.sum() }

// Unsaved reports whether samples have arrived since.
func (k *Keeper) Unsaved() bool { return k.since > 0 }

// Save writes the newest samples. A failure is logged: it only slows the next start.
func (k *Keeper) Save(ctx context.Context, c *engine.Conn, last *newest.Table, days Days) {
	k.since = 0 // a failure is not retried at once
	if err := k.save(ctx, c, last, days); err != nil {
		k.log.WarnContext(ctx, "newest samples not saved, the next start reads more of the open days", "dir", k.dir, "err", err)
	}
}

func (k *Keeper) save(ctx context.Context, c *engine.Conn, last *newest.Table, days Days) error {
	name := names[0]
	if k.name == name {
		name = names[1]
	}
	bytes, checksum, err := k.write(name, last)
	if err != nil {
		return errors.Join(fmt.Errorf("write the file: %w", err), remove(filepath.Join(k.dir, name)))
	}
	err = c.Transact(ctx, func() error {
		if err := c.Exec(ctx, "DELETE FROM newest_file"); err != nil {
			return err
		}
		if err := c.Exec(ctx, "INSERT INTO newest_file VALUES ($1, $2, $3, $4)", name, bytes, checksum, days.sum()); err != nil {
			return err
		}
		return saveCovered(ctx, c, days.Tables)
	})
	if err != nil {
		return fmt.Errorf("note the file in the database: %w", err)
	}
	old := k.name
	k.name, k.files = name, days.sum()
	if old == "" {
		return nil
	}
	return remove(filepath.Join(k.dir, old))
}

// write writes the file. It is not synced: damage by a power failure is detected by its checksum.
func (k *Keeper) write(name string, last *newest.Table) (bytes int64, checksum uint64, err error) {
	file, err := os.OpenFile(filepath.Join(k.dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, err
	}
	checksum, err = last.Write(file)
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Close()); err != nil {
		return 0, 0, err
	}
	return info.Size(), checksum, nil
}

// remove removes a file that may not exist.
func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// saveCovered records which rows of the tables the file covers, within the connection's transaction.
func saveCovered(ctx context.Context, c *engine.Conn, tables map[string]Covered) error {
	if err := c.Exec(ctx, "DELETE FROM newest_table"); err != nil {
		return err
	}
	for table, of := range tables {
		if err := c.Exec(ctx, "INSERT INTO newest_table VALUES ($1, $2, $3)", table, of.Rows, of.Overwritten); err != nil {
			return err
		}
	}
	return nil
}

// Forget takes the file out of use within the connection's transaction: a day was removed with its samples, and tables
// of its name may reappear with others.
func (k *Keeper) Forget(ctx context.Context, c *engine.Conn) error {
	k.files = 0 // which makes it stale
	return c.Exec(ctx, "DELETE FROM newest_file")
}

// Load returns the newest samples of the file, and what it covers. There are none if there is no file, or if it is
// not the one recorded in the database, which is logged. numbers is how many numbers points have.
func (k *Keeper) Load(ctx context.Context, c *engine.Conn, days Days, numbers int) (*newest.Table, map[string]Covered, error) {
	k.name, k.since = "", 0
	var bytes int64
	var checksum uint64
	err := c.Query(ctx, "SELECT file, bytes, checksum, files FROM newest_file", func(ch *engine.Chunk) error {
		k.name = ch.Texts(0).At(0)
		bytes, checksum, k.files = engine.Numbers[int64](ch, 1)[0], engine.Numbers[uint64](ch, 2)[0], engine.Numbers[uint64](ch, 3)[0]
		return nil
	})
	if err != nil || k.name == "" {
		return nil, nil, err
	}
	if !slices.Contains(names[:], k.name) {
		k.name = "" // a foreign name is neither read nor removed
		return nil, nil, nil
	}
	covers, err := loadCovered(ctx, c)
	if err != nil || k.Stale(days) || !days.hold(covers) {
		return nil, nil, err
	}
	last, err := k.read(bytes, checksum, numbers)
	if err != nil {
		k.log.WarnContext(ctx, "saved newest samples cannot be used, all samples of the open days are read instead", "dir", k.dir, "file", k.name, "err", err)
		return nil, nil, nil
	}
	return last, covers, nil
}

func (k *Keeper) read(bytes int64, checksum uint64, numbers int) (*newest.Table, error) {
	file, err := os.Open(filepath.Join(k.dir, k.name))
	if err != nil {
		return nil, err
	}
	last, err := newest.Read(file, bytes, checksum, numbers)
	return last, errors.Join(err, file.Close())
}

func loadCovered(ctx context.Context, c *engine.Conn) (map[string]Covered, error) {
	covers := make(map[string]Covered)
	err := c.Query(ctx, "SELECT stored, rows, overwritten FROM newest_table", func(ch *engine.Chunk) error {
		tables, rows, overwritten := ch.Texts(0), engine.Numbers[uint64](ch, 1), engine.Numbers[uint64](ch, 2)
		for i := range ch.Rows {
			covers[tables.At(i)] = Covered{rows[i], overwritten[i]}
		}
		return nil
	})
	return covers, err
}

// hold reports whether the covered rows exist: tables only grow until their day is closed or dropped.
func (d *Days) hold(covers map[string]Covered) bool {
	for table, of := range covers {
		if is, there := d.Tables[table]; !there || is.Rows < of.Rows {
			return false
		}
	}
	return true
}

// sum is a number that differs when a day's file is added, changed or removed.
func (d *Days) sum() uint64 {
	sum := xxh3.New()
	var length [4]byte
	for _, name := range slices.Sorted(slices.Values(d.Files)) {
		binary.LittleEndian.PutUint32(length[:], uint32(len(name)))
		_, _ = sum.Write(length[:])
		_, _ = sum.WriteString(name)
	}
	return sum.Sum64()
}
