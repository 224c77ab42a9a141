package enrol

import (
	"errors"

	"voltbus/wire"
)

// The words by which a parent says why a child may not come in, in wire.Failure.Why.
const (
	WhyPending  = "pending"
	WhyRevoked  = "revoked"
	WhyReplaced = "replaced"
	WhyExpired  = "expired"
	WhyConflict = "conflict"
	WhyAsked    = "asked"
)

// heldBack reports whether a parent keeps a connection aside because there is one already.
func heldBack(err error) bool {
	f, ok := errors.AsType[*wire.Failure](err)
	return ok && (f.Why == WhyConflict || f.Why == WhyAsked)
}

// StateOf returns the state that an answer of the parent puts a child in, with the reason in words; ""
// for an error that says nothing of it.
func StateOf(err error) (State, string) {
	f, ok := errors.AsType[*wire.Failure](err)
	if !ok {
		return "", ""
	}
	switch f.Why {
	case WhyPending:
		return Pending, f.Message
	case WhyRevoked, WhyReplaced:
		return Revoked, f.Message
	case WhyExpired:
		return Expired, f.Message
	}
	return "", ""
}
