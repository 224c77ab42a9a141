// Package heal rebuilds an embedded metering store whose database is damaged: it moves the file aside, and restores the meters from a
// copy in Parquet. Readings come again from the node's log, as far as it reaches back.
package heal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/meter/store/duckdb/registry"
	"voltbus/store/duckdb/engine"
)

// File is the name of the database in the store's directory.
const File = "metering.duckdb"

// Folder holds the copies of the meters, each a folder of its own.
const Folder = "registry"

const (
	mark     = ".damaged-"
	timeForm = "20060102T150405"
	unready  = ".tmp"
)

// Damaged reports whether an error at opening means that the bytes of the database are wrong, and not that this process
// cannot get at them now.
func Damaged(err error) bool {
	e := engine.AsError(err)
	if e == nil || strings.Contains(e.Text, "No space left") || strings.Contains(e.Text, "Conflicting lock") {
		return false
	}
	for _, words := range []string{"not a valid DuckDB database file", "Corrupt", "checksum", "Serialization Error", "Failure while replaying WAL", "Could not read enough bytes"} {
		if strings.Contains(e.Text, words) {
			return true
		}
	}
	return e.Fatal()
}

// SetAside renames the database with its write-ahead log.
func SetAside(dir string, now time.Time) error {
	file := filepath.Join(dir, File)
	aside := file + mark + now.UTC().Format(timeForm)
	if err := os.Rename(file, aside); err != nil {
		return fmt.Errorf("%s is damaged and cannot be set aside: %w; run: mv '%s' '%s'", file, err, file, aside)
	}
	if err := os.Rename(file+".wal", aside+".wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set the write-ahead log of the damaged database aside: %w", err)
	}
	return nil
}

// Kept lists the databases that were set aside and lie there still.
func Kept(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, File+mark+"*")) // the pattern is right
	found = slices.DeleteFunc(found, func(name string) bool { return strings.HasSuffix(name, ".wal") })
	for i, name := range found {
		found[i] = filepath.Base(name)
	}
	return found
}

// Save writes a copy of the meters, and removes older ones when it is complete.
func Save(ctx context.Context, c *engine.Conn, dir string, now time.Time) error {
	folder := filepath.Join(dir, Folder)
	name := now.UTC().Format(timeForm + ".000000000")
	temporary := filepath.Join(folder, name+unready)
	if err := os.MkdirAll(temporary, 0o750); err != nil {
		return fmt.Errorf("copy the meters: %w", err)
	}
	for _, table := range registry.Tables() {
		file := filepath.Join(temporary, table+".parquet")
		if err := c.Exec(ctx, "COPY "+table+" TO "+Quoted(file)+" (FORMAT parquet, COMPRESSION zstd)"); err != nil {
			return err
		}
		if err := sync(file); err != nil {
			return fmt.Errorf("copy the meters: %w", err)
		}
	}
	if err := os.Rename(temporary, filepath.Join(folder, name)); err != nil {
		return fmt.Errorf("copy the meters: %w", err)
	}
	if err := sync(folder); err != nil {
		return fmt.Errorf("copy the meters: %w", err)
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Name() != name {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return err
}

// Restore fills the tables of a new store from the newest copy. It returns when that was made; the zero time without one.
func Restore(ctx context.Context, c *engine.Conn, dir string) (made time.Time, err error) {
	folder := filepath.Join(dir, Folder)
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find the copy of the meters: %w", err)
	}
	for _, e := range slices.Backward(entries) {
		at, err := time.Parse(timeForm+".000000000", e.Name())
		if err != nil {
			continue // it was not completed
		}
		return at, c.Transact(ctx, func() error {
			for _, table := range registry.Tables() {
				file := filepath.Join(folder, e.Name(), table+".parquet")
				if err := c.Exec(ctx, "INSERT INTO "+table+" SELECT * FROM read_parquet("+Quoted(file)+")"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return time.Time{}, nil
}

// Size returns how many bytes the files of a store have. One that goes meanwhile has none.
func Size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // what cannot be read has no size
		}
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// Quoted is a text in SQL.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// sync makes a file or folder durable.
func sync(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
