package identity

import (
	"context"
	"errors"

	"voltbus/fault"
)

// maxHashing is how many passwords are hashed or wait for it: with 19 MiB and tens of milliseconds each, what is
// more would wait for a second and longer.
const maxHashing = 32

var errHashing = errors.New("too many passwords are judged at this moment; try again in a few seconds")

// hashing gives the right to hash to one password at a time, since each takes memory, and bounds how many wait.
type hashing struct {
	turn  chan struct{} // holds an entry while a password is hashed
	queue chan struct{} // holds an entry for each password that is hashed or waits for it
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
