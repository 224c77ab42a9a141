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

// holdEvery is the interval between checks whether the called agent is still connected.
const holdEvery = 100 * time.Millisecond

// CallHeld is Call to an agent with an exclusive name. It does not wait for the answer of one whose
// connection ends meanwhile: that is fault.Unreachable with ErrLost.
func (r *requester) CallHeld(ctx context.Context, name, method string, body []byte) ([]byte, error) {
	return r.CallFor(ctx, "", name, method, body)
}

// CallFor is CallHeld on behalf of a caller at another node, such as agent:campus/weather, of whom the
// callee is notified; "" for nobody.
func (r *requester) CallFor(ctx context.Context, caller, name, method string, body []byte) ([]byte, error) {
	r.connections.mu.Lock()
	holder := r.connections.holder(name)
	r.connections.mu.Unlock()
	if holder == nil {
		return nil, fault.E("bus.CallHeld", fault.Unreachable, name, errAbsent)
	}
	return r.askHeld(ctx, holder, name, request(caller, name, method, body))
}

// askHeld asks who holds an exclusive name, as long as it is connected.
func (r *requester) askHeld(ctx context.Context, holder *connection, name string, m *nats.Msg) ([]byte, error) {
	asking, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { r.awaitEnd(asking, holder, end) })
	defer watch.Wait()
	defer end(nil)
	data, err := r.ask(asking, name, m)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(asking), ErrLost) {
		return nil, fault.E("bus.CallHeld", fault.Unreachable, name, ErrLost)
	}
	return data, err
}

// awaitEnd ends with ErrLost when the connection is gone.
func (r *requester) awaitEnd(ctx context.Context, n *connection, end context.CancelCauseFunc) {
	tick := time.NewTicker(holdEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !r.connections.alive(n) {
			end(ErrLost)
			return
		}
	}
}

// Present returns who holds an exclusive name at the moment, and since when. Unlike Online it asks the
// server nothing.
func (g *connections) Present() map[string]time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make(map[string]time.Time, len(g.holders))
	for name, n := range g.holders {
		if g.alive(n) {
			out[name] = n.since
		}
	}
	return out
}
