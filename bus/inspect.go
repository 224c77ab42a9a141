package bus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// What an inspection shows at most.
const (
	maxConnections   = 1000
	maxSubscriptions = 100
	maxClientName    = 128
	slowPending      = 1 << 20 // bytes that wait for one connection
)

// Connection is one client of the bus.
type Connection struct {
	ID            uint64
	Name          string   // as the program calls itself; anything
	Who           string   // as the node knows it
	Key           string   // the public key that it signed with
	Address       string   // "" for a part of this process
	Role          string   // node, agent, reader, or barred for one that must stay in quarantine
	Subscriptions []string // the first 100
	Subscribed    int      // how many there are
	In, Out       Traffic  // from the connection, and to it
	Pending       int      // bytes that wait to be read by it
	Slow          bool     // more than 1 MiB waits: it reads slower than it is sent to
	RTT           time.Duration
	Since         time.Time
}

// Traffic counts messages.
type Traffic struct{ Messages, Bytes int64 }

// Overview is the state of the bus.
type Overview struct {
	Connections   []Connection // the first 1000, in the order of their coming
	Total         int          // how many there are
	In, Out       Traffic      // of all, since the start
	Subscriptions int
	SlowConsumers int64 // that were cut off since the start
	Started       time.Time
}

// inspector looks at the server for people and programs.
type inspector struct {
	*probe
	cfg         *Config
	requests    *nats.Conn
	connections *connections
}

// Inspect reports the clients of the bus and their message rates. It costs nothing between calls.
func (i *inspector) Inspect() (Overview, error) {
	const op = "bus.Inspect"
	vars, err := i.srv.Varz(nil)
	if err != nil {
		return Overview{}, fault.E(op, fault.Unavailable, i.cfg.Name, trouble.Of(err))
	}
	conns, err := i.srv.Connz(&server.ConnzOptions{Username: true, Subscriptions: true, Limit: maxConnections})
	if err != nil {
		return Overview{}, fault.E(op, fault.Unavailable, i.cfg.Name, trouble.Of(err))
	}
	o := Overview{
		Total: conns.Total, In: Traffic{vars.InMsgs, vars.InBytes}, Out: Traffic{vars.OutMsgs, vars.OutBytes},
		Subscriptions: int(vars.Subscriptions), SlowConsumers: vars.SlowConsumers, Started: vars.Start,
	}
	for _, c := range conns.Conns {
		o.Connections = append(o.Connections, i.describe(c))
	}
	return o, nil
}

func (i *inspector) describe(c *server.ConnInfo) Connection {
	out := Connection{
		ID: c.Cid, Name: c.Name[:min(len(c.Name), maxClientName)], Key: c.AuthorizedUser, Subscribed: int(c.NumSubs),
		In: Traffic{c.InMsgs, c.InBytes}, Out: Traffic{c.OutMsgs, c.OutBytes},
		Pending: c.Pending, Slow: c.Pending > slowPending, Since: c.Start,
	}
	if c.Port != 0 {
		out.Address = fmt.Sprintf("%s:%d", c.IP, c.Port)
	}
	out.Role, out.Who = i.whose(c.Cid, c.AuthorizedUser)
	out.RTT, _ = time.ParseDuration(c.RTT) // none before the first ping
	slices.Sort(c.Subs)
	out.Subscriptions = c.Subs[:min(len(c.Subs), maxSubscriptions)]
	return out
}

// whose returns what a connection is, and who by name.
func (i *inspector) whose(id uint64, key string) (role, name string) {
	if key == i.cfg.Key.Public() {
		return "node", wire.NodeName
	}
	i.connections.mu.Lock()
	defer i.connections.mu.Unlock()
	n := i.connections.byID[id]
	switch {
	case n == nil:
		return "", ""
	case n.quarantine != nil:
		return "barred", n.permit.Name
	case n.permit.Exclusive:
		return "agent", n.permit.Name
	}
	return "reader", n.permit.Name
}

// Watcher bounds: what a watcher cannot take in time is dropped and counted.
const (
	watchMessages = 4096
	watchBytes    = 8 << 20
)

var errSubject = errors.New(`must be a subject below live, such as live.> or live.scan.site.*; * stands for one part, > at the end for all that follow`)

// Watch calls deliver with every message whose subject matches, until stop is called. It has its
// own connection, which exists only while there is a watcher. deliver is called by one goroutine at a
// time, not after stop has returned; it must not keep the data, nor call stop. dropped says how
// many messages came faster than deliver took them. Subjects other than live ones are
// fault.Invalid: they carry what is not everybody's.
func (i *inspector) Watch(subject string, deliver func(subject string, data []byte)) (stop func(), dropped func() int, err error) {
	if !watchable(subject) {
		return nil, nil, fault.E("bus.Watch", fault.Invalid, "subject", errSubject)
	}
	conn, err := nats.Connect("", nats.InProcessServer(i.srv), nats.Name("node watch"), nats.NoReconnect(),
		nats.Nkey(i.cfg.Key.Public(), i.cfg.Key.Sign), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		return nil, nil, fault.E("bus.Watch", fault.Unavailable, i.cfg.Name, trouble.Of(err))
	}
	w := &watcher{deliver: deliver}
	sub, err := conn.Subscribe(subject, w.receive)
	if err == nil {
		err = sub.SetPendingLimits(watchMessages, watchBytes)
	}
	if err == nil {
		err = conn.Flush()
	}
	stop = func() { w.stop(); conn.Close() }
	if err != nil {
		stop()
		return nil, nil, fault.E("bus.Watch", fault.Unavailable, subject, trouble.Of(err))
	}
	return stop, func() int { n, _ := sub.Dropped(); return n }, nil
}

// watcher receives what is inspected.
type watcher struct {
	mu      sync.Mutex
	deliver func(subject string, data []byte) // nil when stopped
}

func (w *watcher) receive(m *nats.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deliver != nil {
		w.deliver(m.Subject, m.Data)
	}
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deliver = nil
}

const maxSubject = 1024

func watchable(subject string) bool {
	if len(subject) > maxSubject || !strings.HasPrefix(subject, "live.") || strings.ContainsFunc(subject, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return false
	}
	parts := strings.Split(subject, ".")
	for i, p := range parts {
		if p == "" || (p == ">" && i < len(parts)-1) {
			return false
		}
	}
	return true
}
