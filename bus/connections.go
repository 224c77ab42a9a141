package bus

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"voltbus/bus/permit"
	"voltbus/fault"
)

// connections are those of others than the node. One lock orders their coming against changes
// of what they may do, so that none slips in with what was just taken away.
type connections struct {
	*probe
	cfg        *Config
	quarantine *server.Account // where those are kept who may not come in yet
	local      *server.Account // where all others are, at a replica; nil for the usual one
	guard      *guard
	requester  *requester // asks holders whether they are there

	mu      sync.Mutex
	byID    map[uint64]*connection
	holders map[string]*connection // exclusive names → who has it
	pauses  map[string]*pause      // keys whose holders flooded
	looked  time.Time              // when was measured what each sends
	heavy   bool                   // somebody sent much then
}

// connection is one of them.
type connection struct {
	id         uint64
	key        string
	called     string // as it calls itself
	address    string
	since      time.Time
	auth       server.ClientAuthentication
	permit     permit.Permit
	quarantine *permit.Quarantine // why it may only ask hello; nil: it may what the permit says
	leaves     time.Time          // when a barred one is closed
	sent       Traffic            // when it was looked at last
	counted    bool               // sent is known
	heavy      time.Time          // since when it sends more than the limits; zero: it does not

	asked  chan struct{} // closed when it is known whether it is there; nil while nobody asks
	proved time.Time     // when it answered last; zero: it was not asked
	closed string        // why this node closes it; "" while it does not
	works  bool          // it does more than to ask how it stands, see Works
	came   bool          // it was told that it came
	ended  bool          // and that it ended
}

func newConnections(cfg *Config, p *probe) *connections {
	return &connections{probe: p, cfg: cfg, byID: map[uint64]*connection{}, holders: map[string]*connection{}, pauses: map[string]*pause{}}
}

// How long a name is waited for whose connection may be ending: who comes back after a cut is often
// faster than the news of the cut.
const (
	goneWait = 300 * time.Millisecond
	goneTick = 5 * time.Millisecond
)

// enter lets a connection in whose key was proven, or returns false for a stranger.
func (g *connections) enter(c server.ClientAuthentication, key string) bool {
	called := c.GetOpts().Name
	if may, known := g.admit(key, called); known && may.Exclusive && may.Quarantine == nil {
		g.awaitLeave(may.Name)
		g.challenge(may.Name)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	may, known := g.admit(key, called)
	if !known {
		return false
	}
	if g.count(key) >= g.guard.limits.Connections {
		return false
	}
	n := &connection{id: c.GetID(), key: key, called: called, since: time.Now(), auth: c, permit: may}
	if a := c.RemoteAddress(); a != nil {
		n.address = a.String()
	}
	n.quarantine = g.quarantineFor(n)
	g.byID[n.id] = n
	if n.quarantine != nil {
		n.leaves = n.since.Add(cmp.Or(n.quarantine.Stay, quarantineTime))
		if n.quarantine.Why == permit.QuarantineConflict || n.quarantine.Why == permit.QuarantineReplaced || n.quarantine.Why == permit.QuarantineExpired {
			g.guard.offer(trespass{id: n.id, quarantine: n.quarantine.Why})
		}
		c.RegisterUser(&server.User{Username: key, Account: g.quarantine, Permissions: n.permit.Quarantined()})
		return true
	}
	if may.Exclusive {
		g.holders[may.Name] = n
	}
	c.RegisterUser(&server.User{Username: key, Account: g.local, Permissions: may.Permissions()})
	return true
}

// account is the name of the account of all who are let in.
func (g *connections) account() string {
	if g.local == nil {
		return server.DEFAULT_GLOBAL_ACCOUNT
	}
	return g.local.Name
}

// count returns how many living connections the holder of a key has.
func (g *connections) count(key string) int {
	n := 0
	for _, one := range g.byID {
		if one.key == key && g.alive(one) {
			n++
		}
	}
	return n
}

// admit returns what a connection may do that shows a key and calls itself by a name.
func (g *connections) admit(key, called string) (permit.Permit, bool) {
	if g.cfg.Admit == nil {
		return permit.Permit{}, false
	}
	permit, known := g.cfg.Admit(key)
	return permit.Called(called), known
}

// awaitLeave returns when nobody has the name, or after goneWait or a quarter of the server's ping interval.
func (g *connections) awaitLeave(name string) {
	tick := time.NewTicker(goneTick)
	defer tick.Stop()
	for end := time.Now().Add(min(goneWait, g.cfg.pingEvery()/4)); time.Now().Before(end); <-tick.C {
		g.mu.Lock()
		held := g.holder(name) != nil
		g.mu.Unlock()
		if !held {
			return
		}
	}
}

// holder returns the living connection that has an exclusive name.
func (g *connections) holder(name string) *connection {
	if h := g.holders[name]; h != nil && h.closed == "" && g.alive(h) {
		return h
	}
	return nil
}

func (g *connections) alive(n *connection) bool { return g.probe.alive(n.id) }

// quarantineFor returns why a connection must stay in quarantine, or nil.
func (g *connections) quarantineFor(n *connection) *permit.Quarantine {
	const op = "bus.enter"
	if p := g.pauses[n.key]; p != nil && n.since.Before(p.until) {
		return &permit.Quarantine{Why: permit.QuarantineFlood, Err: fault.E(op, fault.Unavailable, n.permit.Name, p.reason(n.since))}
	}
	if n.permit.Quarantine != nil {
		return n.permit.Quarantine
	}
	if !n.permit.Exclusive {
		return nil
	}
	h := g.holder(n.permit.Name)
	if h != nil && h.asked != nil && (h.proved.IsZero() || n.since.Sub(h.proved) > proofLife) {
		return &permit.Quarantine{Why: permit.QuarantineAsked, Err: fault.E(op, fault.Unavailable, n.permit.Name, fmt.Errorf(
			"is connected already, from %s since %s; that connection is being asked whether it is still there, and is closed if it is not; try again in a few seconds",
			h.address, h.since.UTC().Format(time.RFC3339)))}
	}
	if h != nil {
		return &permit.Quarantine{Why: permit.QuarantineConflict, Err: fault.E(op, fault.Conflict, n.permit.Name, fmt.Errorf(
			"is connected already, from %s since %s; end that program, or give this one an identity of its own",
			h.address, h.since.UTC().Format(time.RFC3339)))}
	}
	return nil
}

// Repermit makes what the holder of a key may do hold for its open connections at once. A
// connection stays if all its subscriptions are still allowed; otherwise it is closed, and the
// client returns with what it may do now. A key that is no longer admitted is shut out.
func (g *connections) Repermit(publicKey string) {
	var closing []uint64
	g.mu.Lock()
	whole, known := g.admit(publicKey, "")
	for id, n := range g.byID {
		permit := whole.Called(n.called)
		switch {
		case n.key != publicKey:
		case !known:
			closing, n.closed = append(closing, id), whyShut
		case n.permit.Name != permit.Name || n.permit.Why() != permit.Why():
			closing, n.closed = append(closing, id), whyChanged(&permit)
		case n.quarantine != nil || n.permit.Same(&permit):
		default:
			n.permit = permit
			n.auth.RegisterUser(&server.User{Username: publicKey, Account: g.local, Permissions: permit.Permissions()})
			if !g.subscriptionsAllowed(id, &permit) {
				closing, n.closed = append(closing, id), whyOther
			}
		}
	}
	g.mu.Unlock()
	g.disconnect(closing)
}

// Drop closes the connections of a key. It may return if it is still admitted.
func (g *connections) Drop(publicKey, why string) {
	var closing []uint64
	g.mu.Lock()
	for id, n := range g.byID {
		if n.key == publicKey {
			closing, n.closed = append(closing, id), why
			g.cfg.Log.Info("bus connection is closed", slog.String("name", n.permit.Name), slog.String("why", why))
		}
	}
	g.mu.Unlock()
	g.disconnect(closing)
}

// Presence is one connected client.
type Presence struct {
	Name    string
	Key     string
	Address string
	Since   time.Time
	In, Out Traffic // from it and to it, since then
}

// Online returns who holds an exclusive name at the moment, in no order.
func (g *connections) Online() []Presence {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []Presence
	for name, n := range g.holders {
		if g.alive(n) {
			p := Presence{Name: name, Key: n.key, Address: n.address, Since: n.since}
			if c, err := g.srv.Connz(&server.ConnzOptions{CID: n.id}); err == nil && len(c.Conns) == 1 {
				is := c.Conns[0]
				p.In, p.Out = Traffic{is.InMsgs, is.InBytes}, Traffic{is.OutMsgs, is.OutBytes}
			}
			list = append(list, p)
		}
	}
	return list
}
