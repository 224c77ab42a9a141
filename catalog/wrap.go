package catalog

import (
	"errors"

	"voltbus/fault"
	"voltbus/internal/sqlite"
)

var errClosed = errors.New("the catalogue is closed")

// wrap adds to an error of the catalogue's file its kind, and words that say what to do.
func wrap(op, subject string, err error) error {
	file := sqlite.File{
		Name: "the catalogue", Damaged: "a restart sets it aside and makes a new one", Missing: "make the data directory first",
		Closed: errClosed, Other: fault.Internal, Corrupt: []error{errCheck},
	}
	return file.Error(op, subject, err)
}
