// Package sqlite opens files of SQLite, and classifies its errors and words them so that they say what to do.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"

	"voltbus/fault"
	"voltbus/internal/descriptor"
)

// File describes a file, for the wording of its errors. It is safe for concurrent use.
type File struct {
	Name    string     // what people call it, such as "the audit log"
	Damaged string     // what happens to a damaged one, such as "a restart sets it aside and begins a new one"
	Missing string     // what to do if it is absent
	Closed  error      // error of a call after Close
	Other   fault.Kind // kind of errors from neither SQLite nor the file system
	Corrupt []error    // errors of the owner of the file about wrong contents

	// Fixed means that only the owner's own statements run: a failing one, for example because of a missing table,
	// means that the contents are wrong.
	Fixed bool
}

// Error returns err with its kind and words. Errors that already have a kind, and nil, are returned unchanged.
func (f *File) Error(op, subject string, err error) error {
	var known *fault.Error
	code, failed := codeOf(err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.E(op, fault.KindOf(err), subject, err)
	case f.isCorrupt(err):
		return fault.E(op, fault.Corrupt, subject, err)
	case errors.Is(err, fs.ErrPermission):
		return fault.E(op, fault.Refused, subject, fmt.Errorf(
			"this user may not use the file; run as the owner of the data directory: %w", err))
	case errors.Is(err, fs.ErrNotExist):
		return fault.E(op, fault.NotFound, subject, fmt.Errorf("%s: %w", f.Missing, err))
	case errors.Is(err, sql.ErrConnDone):
		return fault.E(op, fault.Unavailable, subject, f.Closed)
	case failed:
		kind, words := f.judge(code)
		if words != "" {
			err = fmt.Errorf("%s: %w", words, err)
		}
		return fault.E(op, kind, subject, err)
	}
	return fault.E(op, f.Other, subject, err)
}

func (f *File) isCorrupt(err error) bool {
	for _, one := range f.Corrupt {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

// judge returns the kind of an error by SQLite's code, and a message; "" if SQLite's own suffices.
func (f *File) judge(code int) (fault.Kind, string) {
	if descriptor.Exhausted() { // SQLite does not tell this from other reasons
		return fault.Unavailable, "too many files are open in this process, or on the machine; raise the limit (LimitNOFILE, ulimit -n)"
	}
	switch code {
	case codeCorrupt, codeNotADB:
		return fault.Corrupt, f.Name + " is damaged; " + f.Damaged
	case codeError, codeFormat:
		if f.Fixed {
			return fault.Corrupt, f.Name + " is damaged; " + f.Damaged
		}
	case codeFull:
		return fault.Unavailable, "the disk is full; make room"
	case codeBusy, codeLocked:
		return fault.Unavailable, "another program holds " + f.Name + "; end it, or try again"
	case codeReadonly, codePerm, codeCantOpen:
		return fault.Refused, f.Name + " cannot be opened or written; check its permissions and those of its folder"
	case codeInterrupt:
		return fault.Canceled, ""
	case codeIOErr:
		return fault.Unavailable, "the disk reports an error"
	}
	return fault.Internal, ""
}

// Result codes of SQLite, https://www.sqlite.org/rescode.html.
const (
	codeError     = 1
	codePerm      = 3
	codeBusy      = 5
	codeLocked    = 6
	codeReadonly  = 8
	codeInterrupt = 9
	codeIOErr     = 10
	codeCorrupt   = 11
	codeFull      = 13
	codeCantOpen  = 14
	codeFormat    = 24
	codeNotADB    = 26
)
