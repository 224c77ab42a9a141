package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"voltbus/fault"
	"voltbus/internal/descriptor"
)

const primaryCode = 0xff // the lower byte of SQLite's extended result codes

// wrap gives an error its kind and words that say what to do. An error that has its kind already
// stays as it is.
func wrap(op, subject string, err error) error {
	var known *fault.Error
	var failed *sqlite.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.KindOf(err), subject, err)
	case errors.Is(err, errForeign):
		return fault.E(op, fault.Corrupt, subject, err)
	case errors.Is(err, fs.ErrPermission):
		return fault.E(op, fault.Refused, subject, fmt.Errorf(
			"this user may not use the file; run as the owner of the data directory: %w", err))
	case errors.Is(err, fs.ErrNotExist):
		return fault.E(op, fault.NotFound, subject, fmt.Errorf("there is no such file: %w", err))
	case errors.Is(err, sql.ErrConnDone):
		return fault.E(op, fault.Unavailable, subject, errClosed)
	case errors.As(err, &failed):
		return wrapSQLite(op, subject, failed)
	}
	return fault.E(op, fault.Unavailable, subject, err)
}

func wrapSQLite(op, subject string, err *sqlite.Error) error {
	if descriptor.Exhausted() { // SQLite does not tell this from other reasons
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf(
			"too many files are open in this process, or on the machine; raise the limit (LimitNOFILE, ulimit -n): %w", err))
	}
	switch err.Code() & primaryCode {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT:
		return fault.E(op, fault.Corrupt, subject, fmt.Errorf(
			"the audit log is damaged; a restart of the node sets it aside and begins a new one: %w", err))
	case sqlite3.SQLITE_FULL:
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the disk is full; make room: %w", err))
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf(
			"another program holds the audit log; end it, or try again: %w", err))
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fault.E(op, fault.Refused, subject, fmt.Errorf(
			"the audit log cannot be opened; check its permissions and those of its folder: %w", err))
	case sqlite3.SQLITE_INTERRUPT:
		return fault.E(op, fault.Canceled, subject, err)
	case sqlite3.SQLITE_IOERR:
		return fault.E(op, fault.Unavailable, subject, fmt.Errorf("the disk reports an error: %w", err))
	}
	return fault.E(op, fault.Internal, subject, err)
}
