package app

import (
	"errors"
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// Reason says what is wrong with a fragment.
type Reason uint8

// Reasons a fragment cannot be read.
const (
	// Truncated: fewer octets than the message claims.
	Truncated Reason = iota + 1
	// UnknownFunction: no function has this code.
	UnknownFunction
	// UnknownObject: the group and variation are not in this package's table.
	UnknownObject
	// BadQualifier: an unassigned qualifier, or one that does not suit the object.
	BadQualifier
	// BadRange: the stop index is below the start index, or a count is absurd.
	BadRange
	// BadObject: the octets of an object contradict each other.
	BadObject
)

var reasonNames = [...]string{
	Truncated:       "truncated",
	UnknownFunction: "unknown function",
	UnknownObject:   "unknown object",
	BadQualifier:    "qualifier not allowed",
	BadRange:        "impossible range or count",
	BadObject:       "malformed object",
}

// String returns the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// ParseError says what is wrong with a fragment and where.
type ParseError struct {
	Reason Reason
	// Octet is the offset in the fragment where the offending part starts.
	Octet int
	// Variation is the object concerned, zero before the first object header.
	Variation object.Variation
	// Qualifier is the qualifier of that object's header.
	Qualifier Qualifier
	// Need and Have are octets, set when Reason is Truncated.
	Need, Have uint64
}

// Error names the reason, the object and the octet.
func (e *ParseError) Error() string {
	text := fmt.Sprintf("%v at octet %d", e.Reason, e.Octet)
	if e.Reason == Truncated {
		text += fmt.Sprintf(": %d octets needed, %d left", e.Need, e.Have)
	}
	if e.Variation == 0 && e.Qualifier == 0 {
		return text
	}
	return fmt.Sprintf("%v qualifier %v: %s", e.Variation, e.Qualifier, text)
}

// IIN returns the indication with which an outstation refuses such a request.
func (e *ParseError) IIN() IIN {
	switch e.Reason {
	case UnknownFunction:
		return IINNoFunction
	case UnknownObject:
		return IINObjectUnknown
	default:
		return IINParameterError
	}
}

// ErrorIIN returns the indication with which an unreadable request is refused.
func ErrorIIN(err error) IIN {
	if parse := (*ParseError)(nil); errors.As(err, &parse) {
		return parse.IIN()
	}
	return IINParameterError
}
