package bus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
)

// ErrLost says that a connection ended between a request and its answer.
var ErrLost = errors.New("the connection was lost before the answer came")

// holdEvery is how often is looked whether somebody who was asked is still connected.
const holdEvery = 100 * time.Millisecond

// CallHeld is Call for somebody with an exclusive name. It does not wait for the answer of one whose
// connection ends meanwhile: that is fault.Unreachable with ErrLost.
func (b *Bus) CallHeld(ctx context.Context, name, method string, body []byte) ([]byte, error) {
	return b.CallFor(ctx, "", name, method, body)
}

// CallFor is CallHeld on behalf of somebody of another node, such as agent:campus/weather, of whom the
// callee is told; "" for nobody.
func (b *Bus) CallFor(ctx context.Context, caller, name, method string, body []byte) ([]byte, error) {
	b.guests.mu.Lock()
	holder := b.guests.holder(name)
	b.guests.mu.Unlock()
	if holder == nil {
		return nil, fault.E("bus.CallHeld", fault.Unreachable, name, errAbsent)
	}
	return b.askHeld(ctx, holder, name, request(caller, name, method, body))
}

// askHeld asks who holds an exclusive name, as long as it is connected.
func (b *Bus) askHeld(ctx context.Context, holder *guest, name string, m *nats.Msg) ([]byte, error) {
	asking, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { b.awaitEnd(asking, holder, end) })
	defer watch.Wait()
	defer end(nil)
	data, err := b.ask(asking, name, m)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), ErrLost) {
		return nil, fault.E("bus.CallHeld", fault.Unreachable, name, ErrLost)
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
