package bus

import (
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// childBytes bounds what waits between the server and ReceiveBlocks, of all children. What is too much
// is lost, and children send it again when they learn that something is missing.
const childBytes = 512 << 20

// children carries blocks and live messages between the node and its children, each on a connection of its own, so that
// neither waits for the other.
type children struct {
	blocks, flows *nats.Conn
	foreign       func(caller, reply string) // is told of answers that somebody wants to be sent elsewhere
}

// Arrival is a frame that a child sent.
type Arrival struct {
	Child string // the child's name, which the server made sure of
	Lane  string
	Data  []byte
	// Answer sends an answer to the child, if it is still there.
	Answer func([]byte)
}

// ReceiveBlocks calls deliver with all frames that children send, until the bus is closed: of each child
// and lane in order, from one goroutine, which deliver must not hold up.
func (c *children) ReceiveBlocks(deliver func(Arrival)) error {
	sub, err := c.blocks.Subscribe(wire.UpPrefix+"*.*", func(m *nats.Msg) { c.arrive(m, deliver) })
	if err == nil {
		err = sub.SetPendingLimits(-1, childBytes)
	}
	if err == nil {
		err = c.blocks.Flush()
	}
	if err != nil {
		return fault.E("bus.ReceiveBlocks", fault.Unavailable, wire.UpPrefix, trouble.Of(err))
	}
	return nil
}

func (c *children) arrive(m *nats.Msg, deliver func(Arrival)) {
	token, lane, _ := strings.Cut(strings.TrimPrefix(m.Subject, wire.UpPrefix), ".")
	caller, err := wire.ParseToken(token)
	child, isChild := strings.CutPrefix(caller, identity.ChildPrefix)
	if err != nil || !isChild {
		return // nobody is permitted to send this
	}
	if !wire.IsInbox(m.Reply, caller) {
		c.foreign(caller, m.Reply)
		return
	}
	deliver(Arrival{Child: child, Lane: lane, Data: m.Data, Answer: func(data []byte) {
		_ = c.blocks.Publish(m.Reply, data) // a child that is gone asks again when it returns
	}})
}
