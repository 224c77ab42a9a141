package bus

import (
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/bus/permit"
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
