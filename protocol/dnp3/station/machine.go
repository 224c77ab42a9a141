package station

import (
	"time"

	"voltbus/protocol/dnp3/link"
)

// Message is a fragment that arrived.
type Message struct {
	// Octets is the whole fragment, valid only during the call.
	Octets []byte
	// Source is the link address it came from.
	Source link.Address
	// Broadcast is the broadcast address it was sent to, 0 if it was sent to this
	// station alone.
	Broadcast link.Address
}

// Machine is the application layer of one association: a master's view of one
// outstation, or an outstation's session with one master. Its methods are called by
// one goroutine at a time, and none of them blocks.
type Machine interface {
	// Open says that the line to the peer is there.
	Open(now time.Time, out *Output)
	// Close says that the line is gone. What was sent and not confirmed may be lost.
	Close(now time.Time)
	// Receive handles a fragment from the peer.
	Receive(now time.Time, m Message, out *Output)
	// Tick does what has become due: the deadline passed, or the application asked for
	// something. It may be called at any time.
	Tick(now time.Time, out *Output)
	// SetWake gives the machine a function to call from any goroutine when its application
	// has something to send; it answers by calling Tick soon, maybe before it returns.
	SetWake(wake func())
	// Deadline returns when Tick has to be called, the zero time for never.
	Deadline() time.Time
}

// Earlier returns the earlier of two deadlines, where the zero time means never.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Due reports whether a deadline has passed; the zero time never does.
func Due(deadline, now time.Time) bool {
	return !deadline.IsZero() && !now.Before(deadline)
}
