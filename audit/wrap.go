package audit

import (
	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// wrap adds to an error of the log's file its kind, and words that say what to do.
func wrap(op, subject string, err error) error {
	file := sqlite.File{
		Name: "the audit log", Damaged: "a restart of the node sets it aside and begins a new one", Missing: "there is no such file",
		Closed: errClosed, Other: fault.Unavailable, Corrupt: []error{errForeign}, Fixed: true,
	}
	return file.Error(op, subject, err)
}
