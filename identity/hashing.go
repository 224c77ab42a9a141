package identity

import (
	"context"
	"errors"

	"voltbus/fault"
)

// maxHashing is how many passwords are being hashed or queued: with 19 MiB and tens of milliseconds each, any
// more would wait for a second or longer.
const maxHashing = 32

var errHashing = errors.New("too many passwords are judged at this moment; try again in a few seconds")

// hashing allows one password to be hashed at a time, since each takes memory, and bounds the queue.
type hashing struct {
	turn  chan struct{} // holds an entry while a password is hashed
	queue chan struct{} // holds an entry for each password being hashed or queued
}

func newHashing() hashing {
	return hashing{turn: make(chan struct{}, 1), queue: make(chan struct{}, maxHashing)}
}

// acquire waits for the right to hash; fault.Unavailable if too many wait already. release gives it back.
func (h hashing) acquire(ctx context.Context) error {
	const op = "identity.acquire"
	select {
	case h.queue <- struct{}{}:
	default:
		return fault.E(op, fault.Unavailable, "", errHashing)
	}
	select {
	case h.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		<-h.queue
		return fault.E(op, fault.KindOf(ctx.Err()), "", ctx.Err())
	}
}

func (h hashing) release() { <-h.turn; <-h.queue }
