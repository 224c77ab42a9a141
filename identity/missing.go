package identity

import (
	"errors"
	"fmt"
	"strconv"

	"voltbus/fault"
	"voltbus/point"
)

// Missing is the capability that was lacking, in the words that "voltbus agent grant" takes, such as "publish
// analysis/x".
type Missing struct {
	Capability string
	Why        error // why the value is not allowed; nil if nothing of the kind is granted
}

// Error implements error.
func (m *Missing) Error() string {
	if m.Why != nil {
		return fmt.Sprintf("missing: %s: %v", m.Capability, m.Why)
	}
	return "missing: " + m.Capability
}

// Unwrap returns why the value is not allowed.
func (m *Missing) Unwrap() error { return m.Why }

// MissingOf returns the missing capability of an error, or "".
func MissingOf(err error) string {
	if m, ok := errors.AsType[*Missing](err); ok {
		return m.Capability
	}
	return ""
}

func missing(op, capability string) *fault.Error {
	return fault.E(op, fault.Refused, "", &Missing{Capability: capability})
}

func refusedValue(op, capability string, why error) *fault.Error {
	return fault.E(op, fault.Refused, "", &Missing{Capability: capability, Why: why})
}

func commandText(path point.Path, level int) string {
	return "command " + string(path) + "@" + strconv.Itoa(level)
}
