// Package trouble turns NATS errors into messages in the terms of this project.
package trouble

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// told is an error of NATS in other words. It still is that error for errors.Is and errors.As.
type told struct {
	text  string
	cause error
}

// Error implements error.
func (t *told) Error() string { return t.text }

// Unwrap returns what NATS reported.
func (t *told) Unwrap() error { return t.cause }

// Stopped reports whether an error says that the engine of the log does not run. After a write that failed for
// another reason than a full disk it stops by itself.
func Stopped(err error) bool {
	var answered *jetstream.APIError
	return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount) ||
		errors.Is(err, nats.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.As(err, &answered) && (answered.ErrorCode == jetstream.JSErrCodeJetStreamNotEnabled || answered.ErrorCode == jetstream.JSErrCodeJetStreamNotEnabledForAccount)
}

// word is what an error of NATS is called.
type word struct {
	is   error
	text string
}

// words lists what errors of NATS are called. The first that fits counts.
func words() []word {
	return []word{
		{jetstream.ErrStreamNotFound, "the log is not there; a restart of the node opens it again"},
		{jetstream.ErrMsgNotFound, "the log does not hold this block any more"},
		{nats.ErrConnectionClosed, "the bus is closed, because the node stops"},
		{nats.ErrConnectionDraining, "the bus is being closed, because the node stops"},
		{nats.ErrConnectionReconnecting, "the connection to the bus was lost, and is made again"},
		{nats.ErrDisconnected, "there is no connection to the bus now"},
		{nats.ErrStaleConnection, "the other side did not answer for too long, and the connection was closed"},
		{nats.ErrNoServers, "nobody answers at this address, or what answers is no bus: is the node running, and listen.bus set?"},
		{nats.ErrTimeout, "there was no answer in time"},
		{nats.ErrMaxPayload, "the message is larger than the bus takes (8 MiB); send it in parts"},
		{nats.ErrBadSubject, "the name is not one that the bus can carry: it has empty parts, spaces or wildcards"},
		{nats.ErrSlowConsumer, "messages came faster than they were read, and some were dropped"},
		{nats.ErrAuthorization, "the bus refuses the key"},
		{nats.ErrAuthExpired, "the bus refuses the key, which has expired"},
		{nats.ErrAuthRevoked, "the bus refuses the key, which was revoked"},
		{nats.ErrPermissionViolation, "the bus refuses it: a capability is missing"},
		{nats.ErrMaxConnectionsExceeded, "the bus has as many connections as it takes"},
		{nats.ErrSecureConnRequired, "the bus wants an encrypted connection"},
		{nats.ErrSecureConnWanted, "the bus offers no encrypted connection"},
	}
}

// Of returns the error in words that say what is wrong and what to do; one that is not of NATS as it is.
func Of(err error) error {
	var done *told
	var answered *jetstream.APIError
	switch {
	case err == nil, errors.As(err, &done):
		return err
	case Stopped(err):
		return &told{"the log's engine has stopped, as it does when the disk refuses a write; it starts by itself when the disk takes writes again, " +
			"else see the node's log and restart the node", err}
	case errors.Is(err, context.Canceled):
		return err
	}
	for _, w := range words() {
		if errors.Is(err, w.is) {
			return &told{w.text, err}
		}
	}
	text := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &told{"there was no answer in time", err}
	case errors.As(err, &answered):
		return &told{fmt.Sprintf("the log refuses it: %s (code %d)", answered.Description, answered.ErrorCode), err}
	case strings.Contains(text, "nats: "):
		return &told{"the bus reports: " + strings.NewReplacer("nats: ", "", "API error: ", "").Replace(text), err}
	}
	return err
}
