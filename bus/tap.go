package bus

import (
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"voltbus/bus/trouble"
	"voltbus/fault"
	"voltbus/wire"
)

// liveRoots are the subjects that live messages and free messages have.
func liveRoots() []string {
	return []string{wire.ScanPrefix + ">", wire.PointPrefix + ">", wire.MessagePrefix + ">"}
}

const (
	tapName  = "node tap"
	tapBytes = 32 << 20 // that may wait for one subscriber
	// natsHeader begins the names of headers that have a meaning for the server.
	natsHeader = "nats-"
)

// Tap is a connection in memory by which live messages go from this bus to another node's and come
// from there. What it publishes does not come back to it, and its subscriptions are not a part of Interest.
// It is safe for concurrent use.
type Tap struct {
	bus  *Bus
	conn *nats.Conn
}

// NewTap opens a tap. Close it after use.
func (b *Bus) NewTap() (*Tap, error) {
	ignore := func(*nats.Conn, *nats.Subscription, error) {} // the subscriber counts what is lost
	conn, err := b.inside("bus.NewTap", nats.Name(tapName), nats.NoEcho(), nats.ErrorHandler(ignore))
	if err != nil {
		return nil, err
	}
	return &Tap{bus: b, conn: conn}, nil
}

// TapMessage is a live message, or a free one.
type TapMessage struct {
	Subject string
	Header  map[string][]string // of a free message, whose sender chose it
	Data    []byte
}

// Publish sends a message to everybody on this bus who listens, but not to the subscribers of this tap.
// Headers that the server would act upon are left out.
func (t *Tap) Publish(m *TapMessage) error {
	out := &nats.Msg{Subject: m.Subject, Data: m.Data}
	for name, values := range m.Header {
		if len(name) >= len(natsHeader) && strings.EqualFold(name[:len(natsHeader)], natsHeader) {
			continue
		}
		if out.Header == nil {
			out.Header = nats.Header{}
		}
		out.Header[name] = values
	}
	if err := t.conn.PublishMsg(out); err != nil {
		return fault.E("bus.Publish", fault.Unavailable, m.Subject, trouble.Of(err))
	}
	return nil
}

// Subscribe calls deliver with every live message and free message of this bus until stop is called; lost says
// how many came faster than deliver returned. deliver is called by several goroutines, returns soon, and
// may keep what it gets.
func (t *Tap) Subscribe(deliver func(TapMessage)) (stop func(), lost func() int, err error) {
	var subs []*nats.Subscription
	stop = func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe() // fails only when the connection is gone, and the subscription with it
		}
	}
	for _, root := range liveRoots() {
		sub, err := t.conn.Subscribe(root, func(m *nats.Msg) {
			deliver(TapMessage{Subject: m.Subject, Header: m.Header, Data: m.Data})
		})
		if err == nil {
			subs = append(subs, sub)
			err = sub.SetPendingLimits(-1, tapBytes)
		}
		if err != nil {
			stop()
			return nil, nil, fault.E("bus.Subscribe", fault.Unavailable, root, trouble.Of(err))
		}
	}
	if err := t.conn.Flush(); err != nil {
		stop()
		return nil, nil, fault.E("bus.Subscribe", fault.Unavailable, t.bus.cfg.Name, trouble.Of(err))
	}
	lost = func() int {
		n := 0
		for _, sub := range subs {
			if dropped, err := sub.Dropped(); err == nil {
				n += dropped
			}
		}
		return n
	}
	return stop, lost, nil
}

// Close ends the tap.
func (t *Tap) Close() { t.conn.Close() }

// Turnover changes whenever a client of this bus adds or removes a subscription. It is cheap.
func (i *inspector) Turnover() uint64 {
	s, err := i.srv.Subsz(nil)
	if err != nil || s.SublistStats == nil {
		return 0
	}
	return s.NumInserts + s.NumRemoves
}

// maxListed bounds the subscriptions that are looked at for Interest.
const maxListed = 1 << 24

// Interest returns the subjects, with wildcards as they are, of all subscriptions on this bus to which
// live messages or other messages may come. Those of taps, of the node's own subscriptions to its agents, and of connections
// that are kept in quarantine are left out.
func (i *inspector) Interest() ([]string, error) {
	s, err := i.srv.Subsz(&server.SubszOptions{Subscriptions: true, Limit: maxListed, Account: i.connections.account()})
	if err != nil {
		return nil, fault.E("bus.Interest", fault.Unavailable, i.cfg.Name, trouble.Of(err))
	}
	own, err := i.requests.GetClientID()
	if err != nil {
		return nil, fault.E("bus.Interest", fault.Unavailable, i.cfg.Name, trouble.Of(err))
	}
	taps := map[uint64]bool{own: true}
	seen := map[string]bool{}
	var subjects []string
	for at := range s.Subs {
		sub := &s.Subs[at]
		if seen[sub.Subject] || !mayBeLive(sub.Subject) {
			continue
		}
		left, known := taps[sub.Cid]
		if !known {
			c := i.srv.GetClient(sub.Cid)
			left = c == nil || (c.GetName() == tapName && i.connections.find(sub.Cid) == nil)
			taps[sub.Cid] = left
		}
		if !left {
			seen[sub.Subject] = true
			subjects = append(subjects, sub.Subject)
		}
	}
	return subjects, nil
}

// mayBeLive reports whether messages to a subject may be live ones or free ones.
func mayBeLive(subject string) bool {
	first, rest, _ := strings.Cut(subject, ".")
	switch first {
	case "live", "msg", ">":
		return true
	case "*":
		return rest != ""
	}
	return false
}
