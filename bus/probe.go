package bus

import (
	"slices"
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"voltbus/bus/permit"
	"voltbus/wire"
)

// probe asks the server about single connections.
type probe struct{ srv *server.Server }

func (p *probe) alive(id uint64) bool { return p.srv.GetClient(id) != nil }

// listens reports whether a connection takes calls.
func (p *probe) listens(id uint64, name string) bool {
	return slices.ContainsFunc(p.subscriptions(id), func(subject string) bool {
		return strings.HasPrefix(subject, wire.CallPrefix+wire.Token(name)+".")
	})
}

// subscriptions returns what a connection listens to; nothing of one that is gone.
func (p *probe) subscriptions(id uint64) []string {
	c, err := p.srv.Connz(&server.ConnzOptions{CID: id, Subscriptions: true})
	if err != nil || len(c.Conns) != 1 {
		return nil
	}
	return c.Conns[0].Subs
}

// subscriptionsAllowed reports whether a connection subscribes to nothing but what the permit
// allows. Whoever subscribes after the new permissions were set is checked by the server.
func (p *probe) subscriptionsAllowed(id uint64, permit *permit.Permit) bool {
	conns, err := p.srv.Connz(&server.ConnzOptions{CID: id, Subscriptions: true})
	if err != nil || len(conns.Conns) != 1 {
		return false // it is gone, or closing it is the safe side
	}
	for _, subject := range conns.Conns[0].Subs {
		if !permit.Subscribable(subject) {
			return false
		}
	}
	return true
}

// received returns what came from a connection.
func (p *probe) received(id uint64) (Traffic, bool) {
	c, err := p.srv.Connz(&server.ConnzOptions{CID: id})
	if err != nil || len(c.Conns) != 1 {
		return Traffic{}, false
	}
	return Traffic{c.Conns[0].InMsgs, c.Conns[0].InBytes}, true
}

func (p *probe) disconnect(ids []uint64) {
	for _, id := range ids {
		_ = p.srv.DisconnectClientByID(id) // fails only for one that is gone
	}
}

// endings returns why connections ended, of as many as the server remembers.
func (p *probe) endings() map[uint64]string {
	out := map[uint64]string{}
	conns, err := p.srv.Connz(&server.ConnzOptions{State: server.ConnClosed, Limit: 1 << 20})
	if err != nil {
		return out
	}
	for _, c := range conns.Conns {
		out[c.Cid] = inWords(c.Reason)
	}
	return out
}

// inWords says why a connection ended that this node did not close on purpose, by the server's word.
func inWords(reason string) string {
	switch reason {
	case server.ClientClosed.String():
		return "it was ended there, or cut on the way"
	case server.ReadError.String():
		return "it broke while this node read from it"
	case server.WriteError.String():
		return "it broke while this node wrote to it"
	case server.StaleConnection.String():
		return "nothing was heard from it for too long"
	case server.SlowConsumerPendingBytes.String():
		return "it read slower than it was sent to"
	case server.SlowConsumerWriteDeadline.String():
		return "it took nothing for too long"
	}
	return "the bus ended it: " + strings.ToLower(reason)
}
