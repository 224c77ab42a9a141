package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

func (s *database) databaseFile() string { return filepath.Join(s.options.Dir, "history.duckdb") }

func (s *database) dayFile(name string) string { return filepath.Join(s.options.Dir, "days", name) }

// openDamaged opens the database; one that is damaged is set aside and a new one is started,
// which then finds the days' files. The caller holds write.
func (s *database) openDamaged(ctx context.Context) error {
	err := s.start(ctx)
	if err == nil {
		return nil
	}
	if errors.Is(err, errVersion) {
		return fault.E("duckdb.Open", fault.Conflict, s.databaseFile(), err)
	}
	e := engine.AsError(err)
	if e == nil || !unreadable(e) {
		return s.fail("duckdb.Open", s.databaseFile(), err)
	}
	aside := s.databaseFile() + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	s.options.Log.ErrorContext(ctx, "database damaged, a new one is started", "aside", aside, "err", err)
	if err := setAside(s.databaseFile(), aside); err != nil {
		return fault.E("duckdb.Open", fault.Corrupt, s.databaseFile(), err)
	}
	if err := s.start(ctx); err != nil {
		return s.fail("duckdb.Open", s.databaseFile(), err)
	}
	reason := "the database could not be read, a new one was started: " + e.Text
	if err := noteDamage(ctx, s.writer, damage{file: filepath.Base(aside), reason: reason, noticed: now()}); err != nil {
		return s.fail("duckdb.Open", s.databaseFile(), err)
	}
	return nil
}

// unreadable reports whether an error at opening means that the file's bytes are wrong, and not
// that this process cannot get at them now.
func unreadable(e *engine.Error) bool {
	return !noSpace(e.Text) && (damaged(e.Text) || e.Fatal())
}

// setAside renames a database with its write-ahead log.
func setAside(file, aside string) error {
	if err := os.Rename(file, aside); err != nil {
		return fmt.Errorf("set the damaged database aside: %w", err)
	}
	if err := os.Rename(file+".wal", aside+".wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("set the damaged write-ahead log aside: %w", err)
	}
	return nil
}

// syncFile makes a file's content durable.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
