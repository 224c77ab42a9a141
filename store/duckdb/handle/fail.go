package handle

import (
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

// Fail adds to an engine error its kind and, if a person must act, what to do. An error that makes the
// database unusable causes it to be reopened before the next call.
func (s *Handle) Fail(op, subject string, err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	e := engine.AsError(err)
	if e == nil {
		return fault.E(op, fault.KindOf(err), subject, err)
	}
	if e.Fatal() {
		s.lender.spoil()
	}
	switch {
	case NoSpace(e.Text):
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the disk is full: make room or shorten the retention: %w", err))
	case strings.Contains(e.Text, "Out of Memory"):
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the store's memory limit is too small for this: %w", err))
	case Damaged(e.Text):
		return fault.E(op, fault.Corrupt, subject, fmt.Errorf("stored data is damaged: %w", err))
	case e.Fatal():
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the store recovers by itself, try again: %w", err))
	}
	return fault.E(op, fault.Internal, subject, err)
}

// NoSpace recognises DuckDB's messages about a full disk.
func NoSpace(text string) bool {
	return strings.Contains(text, "No space left on device") || strings.Contains(text, "disk quota") ||
		strings.Contains(text, "Could not write file") || strings.Contains(text, "Could not write all bytes")
}

// Damaged recognises DuckDB's messages about a damaged database.
func Damaged(text string) bool {
	for _, words := range []string{
		"not a valid DuckDB database file", "Corrupt", "checksum", "Serialization Error", "Failure while replaying WAL",
		"Could not read enough bytes",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
