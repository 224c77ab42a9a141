package journal

import (
	"voltbus/fault"
	"voltbus/internal/sqlite"
)

// wrap adds to an error of the journal's file its kind, and words that say what to do.
func wrap(op, subject string, err error) error {
	file := sqlite.File{
		Name: "the state of control", Damaged: "a restart of the node sets it aside and begins anew", Missing: "there is no such file",
		Closed: errClosed, Other: fault.Unavailable, Corrupt: []error{errForeign, errCheck, errTurn}, Fixed: true,
	}
	return file.Error(op, subject, err)
}
