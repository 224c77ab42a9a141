// Package fault defines the kinds of error once for the whole system: the same kinds appear in Go errors, on the bus, in HTTP problem
// details and in the command line's exit codes.
package fault

import (
	"context"
	"errors"
	"strings"
)

// Kind says what a caller can do about an error.
type Kind uint8

// The kinds of error. The zero Kind is Internal: an error that nobody classified is a defect.
const (
	Internal    Kind = iota // a defect of the program
	Invalid                 // the request or configuration is wrong; change it
	NotFound                // the thing named does not exist
	Unreachable             // the other side does not answer; try later
	Timeout                 // no answer in time; the outcome is unknown
	Refused                 // not allowed: a permission or capability is missing
	Conflict                // somebody else holds it, or it exists already
	Unavailable             // this node cannot do it now (disk full, queue full, starting)
	Corrupt                 // stored or received bytes fail their checksum or format
	Rejected                // the device answered, and said no
	Canceled                // the caller gave up
)

var names = [...]string{
	"internal", "invalid", "not-found", "unreachable", "timeout", "refused",
	"conflict", "unavailable", "corrupt", "rejected", "canceled",
}

// String returns the kind's name as used on the wire, such as "not-found".
func (k Kind) String() string {
	if int(k) < len(names) {
		return names[k]
	}
	return names[Internal]
}

// ParseKind is the inverse of String. An unknown name gives Internal and false.
func ParseKind(name string) (Kind, bool) {
	for i, n := range names {
		if n == name {
			return Kind(i), true
		}
	}
	return Internal, false
}

// Error is an error with the operation that met it, its kind and the thing it is about.
// Any field but Err may be empty. It is immutable after it was made.
type Error struct {
	Op      string // package and method, such as "modbus.Read"
	Kind    Kind
	Subject string // what it is about: a point, a device, a file, an address
	Err     error  // the cause, in words a person can act on
}

// E makes an Error. Op and subject may be empty; err must not be nil.
func E(op string, kind Kind, subject string, err error) *Error {
	return &Error{Op: op, Kind: kind, Subject: subject, Err: err}
}

// Error returns "subject: cause", without the operation, which is for logs.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Subject != "" {
		b.WriteString(e.Subject)
		b.WriteString(": ")
	}
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	} else {
		b.WriteString(e.Kind.String())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost Error in err's chain; Canceled and Timeout for the
// errors of package context; Internal for everything else. KindOf(nil) is Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Internal
}

// Is reports whether err is of the kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
