package bus

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/fault"
)

// ErrLost says that a connection ended between a request and its answer.
var ErrLost = errors.New("the connection was lost before the answer came")

// holdEvery is how often is looked whether somebody who was asked is still connected.
const holdEvery = 100 * time.Millisecond

// CallHeld is Call for somebody with an exclusive name. It does not wait for the answer of one whose
// connection ends meanwhile: that is fault.Unreachable with ErrLost.
func (b *Bus) CallHeld(ctx context.Context, name, method string, body []byte) ([]byte, error) {
	const op = "bus.CallHeld"
	b.guests.mu.Lock()
	holder := b.guests.holder(name)
	b.guests.mu.Unlock()
	if holder == nil {
		return nil, fault.E(op, fault.Unreachable, name, errAbsent)
	}
	asking, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { b.awaitEnd(asking, holder, end) })
	defer watch.Wait()
	defer end(nil)
	data, err := b.Call(asking, name, method, body)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), ErrLost) {
		return nil, fault.E(op, fault.Unreachable, name, ErrLost)
	}
	return data, err
}

// awaitEnd ends with ErrLost when the connection is gone.
func (b *Bus) awaitEnd(ctx context.Context, n *guest, end context.CancelCauseFunc) {
	tick := time.NewTicker(holdEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !b.guests.alive(n) {
			end(ErrLost)
			return
		}
	}
}

// Present returns who holds an exclusive name at the moment, and since when. Unlike Online it asks the
// server nothing.
func (b *Bus) Present() map[string]time.Time {
	b.guests.mu.Lock()
	defer b.guests.mu.Unlock()
	out := make(map[string]time.Time, len(b.guests.holders))
	for name, n := range b.guests.holders {
		if b.guests.alive(n) {
			out[name] = n.since
		}
	}
	return out
}
