package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"voltbus/bus/permit"

	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// flowBytes bounds what waits between the server and ReceiveFlows, of all children. What is too much is lost.
const flowBytes = 64 << 20

// FrameFlow is a frame of live messages, or about them, that a child sent.
type FrameFlow struct {
	Child   string // the child's name, which the server made sure of
	Session string // as the child calls the connection
	Data    []byte
}

// ReceiveFlows calls deliver with all frames about live messages that children send, until the bus is closed:
// of each child in order, from one goroutine, which deliver must not hold up.
func (c *children) ReceiveFlows(deliver func(FrameFlow)) error {
	sub, err := c.flows.Subscribe(wire.FlowPrefix+"*.*", func(m *nats.Msg) {
		token, session, _ := strings.Cut(strings.TrimPrefix(m.Subject, wire.FlowPrefix), ".")
		caller, err := wire.ParseToken(token)
		child, isChild := strings.CutPrefix(caller, identity.ChildPrefix)
		child, isLive := strings.CutSuffix(child, permit.LiveName(""))
		if err == nil && isChild && isLive { // nobody else is permitted to send this
			deliver(FrameFlow{Child: child, Session: session, Data: m.Data})
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, flowBytes)
	}
	if err == nil {
		err = c.flows.Flush()
	}
	if err != nil {
		return fault.E("bus.ReceiveFlows", fault.Unavailable, wire.FlowPrefix, trouble.Of(err))
	}
	return nil
}

// SendFlow hands a frame about live messages over to a child's session. It waits for nobody.
func (c *children) SendFlow(child, session string, data []byte) error {
	subject := wire.NewsPrefix + wire.Token(permit.LiveName(identity.ChildPrefix+child)) + "." + session
	if err := c.flows.Publish(subject, data); err != nil {
		return fault.E("bus.SendFlow", fault.Unavailable, child, trouble.Of(err))
	}
	return nil
}

// Flows returns the children that have a connection for live messages.
func (g *connections) Flows() map[string]bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[string]bool{}
	for _, n := range g.byID {
		name, isLive := strings.CutSuffix(n.permit.Name, permit.LiveName(""))
		child, isChild := strings.CutPrefix(name, identity.ChildPrefix)
		if isLive && isChild && n.quarantine == nil && n.closed == "" && g.alive(n) {
			out[child] = true
		}
	}
	return out
}

// Flow is a child's second connection to its parent's bus, for live messages alone. When it is lost it does
// not come back. Its methods are safe for concurrent use.
type Flow struct {
	joiner *Joiner
	out    string // the subject of frames to the parent
}

// DialFlow connects to a parent that says that it takes live messages. name is the child's caller name, and
// deliver gets the parent's frames, in order, from one goroutine that must not be held up. Errors are as of Join.
func DialFlow(ctx context.Context, to Way, key Signer, name string, deliver func([]byte)) (*Flow, error) {
	j, err := join(ctx, to, key, permit.LiveName(name))
	if err != nil {
		return nil, err
	}
	self, session := wire.Token(permit.LiveName(name)), rand.Text()
	sub, err := j.conn.Subscribe(wire.NewsPrefix+self+"."+session, func(m *nats.Msg) { deliver(m.Data) })
	if err == nil {
		err = sub.SetPendingLimits(-1, flowBytes)
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
