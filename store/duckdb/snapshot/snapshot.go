// Package snapshot saves the newest samples of a history in a file beside its database, so that a start reads only what arrived since.
// The database says which file it is, and which rows of which tables it covers: who does not find it as it should be reads the tables.
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

// Schema makes the tables that say what the file is.
const Schema = `CREATE TABLE IF NOT EXISTS newest_file(file VARCHAR, bytes BIGINT, checksum UBIGINT, files UBIGINT);
CREATE TABLE IF NOT EXISTS newest_table(stored VARCHAR, rows UBIGINT, overwritten UBIGINT)`

// Keeper writes and reads the file. One goroutine uses it at a time, with the connection that changes the database.
type Keeper struct {
	dir   string
	log   *slog.Logger
	name  string // of the file; "" if there is none
	files uint64 // the days' files when it was written, see Days.sum
	since uint64 // samples that were stored behind it
}

// New returns a keeper of a directory.
func New(dir string, log *slog.Logger) *Keeper { return &Keeper{dir: dir, log: log} }

// Days are where the samples of the history are.
type Days struct {
	Files  []string           // names of the files of closed days, in any order
	Tables map[string]Covered // the tables of open days
}

// Covered is what is read of a day's table: how many rows from its beginning, and how many of them took the place of
// another one and say something else.
type Covered struct{ Rows, Overwritten uint64 }

// The newest samples are written when so many samples, and so many for each point, have come.
const (
	manySamples = 2 << 20
	manyPerName = 4
)

// names are those of the file, of which one is in use while the other one is written.
var names = [...]string{"newest.1", "newest.2"}

// Note notes that so many samples were stored.
func (k *Keeper) Note(samples uint64) { k.since += samples }

// Due reports whether so much has come that the newest samples of so many points should be written.
func (k *Keeper) Due(points int) bool {
	return k.since >= max(manySamples, manyPerName*uint64(points))
}

// Stale reports whether the days have other files than when the newest samples were written.
func (k *Keeper) Stale(days Days) bool { return k.files != days.sum() }

// Unsaved reports whether samples came since.
func (k *Keeper) Unsaved() bool { return k.since > 0 }

// Save writes the newest samples. A failure is logged: it costs the next start some time, and no more.
func (k *Keeper) Save(ctx context.Context, c *engine.Conn, last *newest.Table, days Days) {
	k.since = 0 // who fails does not try again at once
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

// write writes the file. It is not synced: one that a power cut has spoiled is known by its checksum.
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

// remove removes a file that may be gone.
func remove(name string) error {
	if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// saveCovered notes which rows of the tables the file covers, within the connection's transaction.
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

// Forget takes the file out of use within the connection's transaction: a day goes with its samples, and tables of its
// name may come again with others.
func (k *Keeper) Forget(ctx context.Context, c *engine.Conn) error {
	k.files = 0 // which makes it stale
	return c.Exec(ctx, "DELETE FROM newest_file")
}

// Load returns the newest samples of the file, and what it covers. There are none if there is no file, or if it is
// another one than the database says, which is logged. Numbers is how many numbers points have.
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
		k.name = "" // a name from elsewhere is neither read nor removed
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

// hold reports whether what is covered is there: tables only grow until their day is closed or dropped.
func (d *Days) hold(covers map[string]Covered) bool {
	for table, of := range covers {
		if is, there := d.Tables[table]; !there || is.Rows < of.Rows {
			return false
		}
	}
	return true
}

// sum is a number that is another one when a day's file came, changed or went.
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
