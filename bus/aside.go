package bus

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/fault"
	"voltbus/wire"
)

// Who may not come in, because of a second connection of the name, a flood, or a permit that says so, is let into an
// account aside: nothing is there but an answer that says why. A refusal at the door could not say
// it, and would look like a wrong key.
const (
	asideAccount = "ASIDE"
	asideConn    = "node aside" // the name of the node's own connection in it
	barredFor    = 2 * time.Second
)

// barred returns what a connection may do that is kept aside: ask, and subscribe in vain, so that
// nothing is taken for a violation.
func (p *Permit) barred() *server.Permissions {
	self := wire.Token(p.Name)
	return &server.Permissions{
		Publish:   allow([]string{wire.CallPrefix + wire.NodeName + "." + self + ".*"}),
		Subscribe: allow(append([]string{wire.InboxPrefix + self + ".>", wire.CallPrefix + self + ".>"}, p.Subscribe...)),
	}
}

// ownAccount returns the account of one of the node's own connections; nil is the usual one.
func (b *Bus) ownAccount(name string) *server.Account {
	if name == asideConn {
		return b.guests.aside
	}
	return nil
}

// answerAside tells everybody who is kept aside why.
func (b *Bus) answerAside(m *nats.Msg) {
	call, err := wire.ParseCall(m.Subject)
	if err != nil || !wire.IsInbox(m.Reply, call.Caller) {
		return
	}
	if why := b.guests.whyAside(call.Caller, m.Reply); why != nil {
		_ = m.Respond(failureWhy(why.Err, why.Why)) // who asked may be gone
	}
}

// whyAside returns why a connection of the name is kept aside: of several the one that listens to the inbox, since a
// copy with an old key hears something else than the child that returns.
func (g *guests) whyAside(name, inbox string) *Aside {
	var list []*guest
	g.mu.Lock()
	for _, n := range g.byID {
		if n.barred != nil && n.permit.Name == name && g.alive(n) {
			list = append(list, n)
		}
	}
	g.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b *guest) int { return cmp.Compare(b.id, a.id) })
	if len(list) > 1 {
		for _, n := range list {
			if slices.ContainsFunc(g.subscriptions(n.id), func(subject string) bool { return wire.Covers(subject, inbox) }) {
				return n.barred
			}
		}
	}
	return list[0].barred
}

// failure is the body of an answer that reports an error.
func failure(err error) []byte { return failureWhy(err, "") }

// failureWhy is failure with a word for programs.
func failureWhy(err error, why string) []byte {
	body, _ := json.Marshal(wire.Reply{Error: &wire.Failure{ // texts are always written
		Kind: fault.KindOf(err).String(), Message: err.Error(), Why: why,
	}})
	return body
}
