package enrol

import (
	"errors"

	"voltbus/wire"
)

// The reasons that a parent gives for not admitting a child, in wire.Failure.Why.
const (
	WhyPending  = "pending"
	WhyRevoked  = "revoked"
	WhyReplaced = "replaced"
	WhyExpired  = "expired"
	WhyConflict = "conflict"
	WhyAsked    = "asked"
)

// heldBack reports whether a parent refuses a connection because there already is one.
func heldBack(err error) bool {
	f, ok := errors.AsType[*wire.Failure](err)
	return ok && (f.Why == WhyConflict || f.Why == WhyAsked)
}

// StateOf returns the state of a child according to the parent's answer, with the reason in words; "" for an
// error that says nothing about it.
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
