package bus

import (
	"cmp"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/bus/dispatch"
	"voltbus/bus/permit"
	"voltbus/wire"
)

// Who may not come in, because of a second connection of the name, a flood, or a permit that says so, is let into an
// account of its own, the quarantine: nothing is there but an answer that says why. A refusal at the door could not say
// it, and would look like a wrong key.
const (
	quarantineAccount = "QUARANTINE"
	quarantineConn    = "node quarantine" // the name of the node's own connection in it
	quarantineTime    = 2 * time.Second

	systemConn   = "node system" // the name of the node's own connection to the account of the server
	logConn      = "node log"    // the name of the node's own connection to the log
	meshConn     = "node mesh"   // and of that to the other replicas
	localAccount = "NODE_"       // and the name of a replica: what the replicas do not share
)

// ownAccount returns the account of one of the node's own connections; nil is the usual one.
func (b *Bus) ownAccount(name string) *server.Account {
	switch name {
	case quarantineConn:
		return b.connections.quarantine
	case logConn, meshConn:
		return nil
	case systemConn:
		return b.srv.SystemAccount()
	}
	return b.connections.local
}

// answerQuarantined answers everybody who is kept in quarantine with why.
func (b *Bus) answerQuarantined(m *nats.Msg) {
	call, err := wire.ParseCall(m.Subject)
	if err != nil || !wire.IsInbox(m.Reply, call.Caller) {
		return
	}
	if why := b.connections.whyQuarantined(call.Caller, m.Reply); why != nil {
		_ = m.Respond(dispatch.Failure(why.Err, why.Why)) // who asked may be gone
	}
}

// whyQuarantined returns why a connection of the name is kept in quarantine: of several the one that listens to the inbox, since a
// copy with an old key receives something else than the child that returns.
func (g *connections) whyQuarantined(name, inbox string) *permit.Quarantine {
	var list []*connection
	g.mu.Lock()
	for _, n := range g.byID {
		if n.quarantine != nil && n.permit.Name == name && g.alive(n) {
			list = append(list, n)
		}
	}
	g.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *connection) int { return cmp.Compare(b.id, a.id) })
	if len(list) > 1 {
		for _, n := range list {
			if slices.ContainsFunc(g.subscriptions(n.id), func(subject string) bool { return wire.Covers(subject, inbox) }) {
				return n.quarantine
			}
		}
	}
	return list[0].quarantine
}
