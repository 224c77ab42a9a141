package object

import "errors"

// Errors of encoding.
var (
	// ErrValue says that a value cannot be expressed in the variation.
	ErrValue = errors.New("value out of range")
	// ErrTime says that a relative time needs a common time less than 65.536 s
	// earlier and of the same quality; write one and try again.
	ErrTime = errors.New("no common time within reach")
)
