package packet

import (
	"errors"
	"fmt"

	"voltbus/protocol/mqtt/topic"
)

// Error is a packet that breaks a rule of the standard.
type Error struct {
	// Code is the reason code to send in a DISCONNECT or CONNACK before the connection is closed.
	Code Code
	// Clause names the rule, such as "MQTT-3.3.2-2", or "§2.2.2.2" where the rule has no number.
	Clause string
	Text   string
}

// Error implements error.
func (e *Error) Error() string { return e.Code.String() + ": " + e.Text + " [" + e.Clause + "]" }

func malformed(clause, format string, args ...any) error {
	return &Error{MalformedPacket, clause, fmt.Sprintf(format, args...)}
}

func violation(clause, format string, args ...any) error {
	return &Error{ProtocolError, clause, fmt.Sprintf(format, args...)}
}

// topicError gives an error of the package topic the reason code that goes with it.
func topicError(err error, code Code) error {
	if e := (*topic.Error)(nil); errors.As(err, &e) {
		if e.Clause == "MQTT-1.5.4-1" || e.Clause == "MQTT-4.7.3-2" {
			code = MalformedPacket
		}
		return &Error{code, e.Clause, e.Text}
	}
	return err
}

// Errors of what a caller asked to encode.
var (
	errTooLong  = errors.New("a text or binary field is longer than 65,535 bytes")
	errTooLarge = errors.New("the packet is larger than MQTT allows (268,435,455 bytes behind its header)")
)
