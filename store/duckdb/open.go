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
	"voltbus/store/duckdb/handle"
	"voltbus/store/duckdb/manifest"
)

// openDamaged opens the database; a damaged one is set aside and a new one is created, which then finds the
// days' files. The caller holds write.
func (s *database) openDamaged(ctx context.Context) error {
	err := s.Start(ctx)
	if err == nil {
		return nil
	}
	if errors.Is(err, manifest.ErrVersion) {
		return fault.E("duckdb.Open", fault.Conflict, s.File(), err)
	}
	e := engine.AsError(err)
	if e == nil || !unreadable(e) {
		return s.Fail("duckdb.Open", s.File(), err)
	}
	aside := s.File() + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	s.options.Log.ErrorContext(ctx, "database damaged, a new one is started", "aside", aside, "err", err)
	if err := setAside(s.File(), aside); err != nil {
		return fault.E("duckdb.Open", fault.Corrupt, s.File(), err)
	}
	if err := s.Start(ctx); err != nil {
		return s.Fail("duckdb.Open", s.File(), err)
	}
	reason := "the database could not be read, a new one was started: " + e.Text
	if err := manifest.NoteDamage(ctx, s.Writer(), manifest.Damage{File: filepath.Base(aside), Reason: reason}); err != nil {
		return s.Fail("duckdb.Open", s.File(), err)
	}
	return nil
}

// unreadable reports whether an error on opening means that the file is damaged, not that this process cannot
// access it now.
func unreadable(e *engine.Error) bool {
	return !handle.NoSpace(e.Text) && (handle.Damaged(e.Text) || e.Fatal())
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

// syncFile syncs a file's content to disk.
func syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
