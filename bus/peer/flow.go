package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/bus/permit"
	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// frameBytes bounds the frames of the parent that wait for deliver. What is too much is lost.
const frameBytes = 64 << 20

// Flow is a child's second connection to its parent's bus, for live messages alone. When it is lost it does
// not come back. Its methods are safe for concurrent use.
type Flow struct {
	joiner *Joiner
	out    string // the subject of frames to the parent
}

// DialFlow connects to a parent that says that it takes live messages. name is the child's caller name, and
// deliver gets the parent's frames, in order, from one goroutine that must not be held up. Errors are as of Join.
func DialFlow(ctx context.Context, to Way, key bus.Signer, name string, deliver func([]byte)) (*Flow, error) {
	j, err := join(ctx, to, key, permit.LiveName(name))
	if err != nil {
		return nil, err
	}
	self, session := wire.Token(permit.LiveName(name)), rand.Text()
	sub, err := j.conn.Subscribe(wire.NewsPrefix+self+"."+session, func(m *nats.Msg) { deliver(m.Data) })
	if err == nil {
		err = sub.SetPendingLimits(-1, frameBytes)
	}
	if err == nil {
		err = j.conn.Flush()
	}
	if err != nil {
		j.Close()
		return nil, fault.E("bus.DialFlow", fault.Unreachable, to.Address, fmt.Errorf("the connection to the parent was lost: %w", trouble.Of(err)))
	}
	return &Flow{joiner: j, out: wire.FlowPrefix + self + "." + session}, nil
}

var errFlowLost = errors.New("the connection to the parent for live messages was lost; it is made anew")

// Send hands a frame over, behind those before. It waits as long as the connection takes nothing.
func (f *Flow) Send(data []byte) error {
	if err := f.joiner.conn.Publish(f.out, data); err != nil {
		return fault.E("bus.Send", fault.Unreachable, f.joiner.name, fmt.Errorf("%w: %w", errFlowLost, err))
	}
	return nil
}

// Ended is closed when the connection has ended.
func (f *Flow) Ended() <-chan struct{} { return f.joiner.Ended() }

// Close ends the connection.
func (f *Flow) Close() { f.joiner.Close() }
