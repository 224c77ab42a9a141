// Package brokertest is a small in-memory MQTT broker, for tests of the packages below protocol/mqtt and for measurements. It has one
// lock, keeps nothing on disk and lets everybody do everything, unless its hooks say otherwise.
package brokertest

import (
	"fmt"
	"sync"
	"time"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Hooks change what a broker does. Those that are nil do nothing. They are called under the lock
// of the broker and must not call it.
type Hooks struct {
	// Connect says who may connect.
	Connect func(p *packet.Connect) session.Answer
	// Auth goes on with an authentication.
	Auth func(p *packet.Auth) session.Answer
	// Hold says whether a message with QoS 1 or 2 waits for [Broker.Commit].
	Hold func(p *session.Publication) bool
	// Subscribe says who may subscribe to what.
	Subscribe func(f topic.Filter) packet.Code
}

// Broker is the broker. Make it with [New].
type Broker struct {
	mu       sync.Mutex
	config   session.Config
	hooks    Hooks
	now      func() time.Time
	table    *session.Table
	tree     *topic.Tree[*session.Session, session.Subscription]
	retained *topic.Retained[*session.Message]
	matches  topic.Matches[*session.Session, session.Subscription]
	assigned int
	held     []held
	wake     []*Link          // have something to send that nobody knows of
	active   *session.Session // is in Receive
	self     []session.Delivery
	once     map[*session.Session]session.Delivery
}

// held is a message that waits for its commit.
type held struct {
	session  *session.Session
	sequence uint64
	message  *session.Message
}

// New returns a broker that reads the time from now.
func New(config session.Config, hooks Hooks, now func() time.Time) *Broker {
	b := &Broker{
		config: config, hooks: hooks, now: now,
		tree:     topic.NewTree[*session.Session, session.Subscription](),
		retained: topic.NewRetained[*session.Message](),
		once:     make(map[*session.Session]session.Delivery),
	}
	b.table = session.NewTable(&b.config, watcher{b})
	return b
}

// Link is the broker's end of a network connection.
type Link struct {
	broker *Broker
	conn   *session.Conn
	out    []byte
	over   bool
	notify func()
	called bool
}

// Dial begins a network connection. notify is called when there is something to send or the
// connection is to be closed, with the lock held: it must not call the broker.
func (b *Broker) Dial(notify func()) *Link {
	l := &Link{broker: b, notify: notify}
	l.conn = session.NewConn(b.now(), &b.config, b)
	l.conn.Tag = l
	return l
}

// Receive handles what arrived.
func (l *Link) Receive(data []byte) {
	b := l.broker
	b.mu.Lock()
	defer b.unlock()
	b.active = l.conn.Session()
	out, err := l.conn.Receive(b.now(), data, l.out)
	l.out, l.over = out, l.over || err != nil
	if s := l.conn.Session(); s != nil {
		for _, d := range b.self {
			l.out, _ = s.Deliver(b.now(), d, l.out)
		}
	}
	clear(b.self)
	b.active, b.self = nil, b.self[:0]
	b.announce(l)
}

// Take returns what is to be sent, in place of an empty buffer to go on with, and whether the
// connection is to be closed after that.
func (l *Link) Take(empty []byte) (out []byte, over bool) {
	l.broker.mu.Lock()
	defer l.broker.unlock()
	out, l.out, l.called = l.out, empty[:0], false
	if s := l.conn.Session(); s != nil && len(out) > 0 {
		l.out = s.Flush(l.broker.now(), l.out)
		l.broker.announce(l)
	}
	return out, l.over
}

// Close says that the network connection is gone.
func (l *Link) Close() {
	l.broker.mu.Lock()
	defer l.broker.unlock()
	l.over = true
	l.broker.table.Close(l.broker.now(), l.conn)
}

// Tick does what has become due.
func (b *Broker) Tick() {
	b.mu.Lock()
	defer b.unlock()
	b.table.Tick(b.now())
}

// Tick ends the connection if its client is silent.
func (l *Link) Tick() {
	l.broker.mu.Lock()
	defer l.broker.unlock()
	out, err := l.conn.Tick(l.broker.now(), l.out)
	l.out, l.over = out, l.over || err != nil
	l.broker.announce(l)
}

// Commit answers all messages that are held, and delivers them unless code says why not.
func (b *Broker) Commit(code packet.Code) int {
	b.mu.Lock()
	defer b.unlock()
	n := len(b.held)
	for _, h := range b.held {
		if !code.Failed() {
			b.route(h.message)
		}
		l := linkOf(h.session.Conn())
		if l == nil {
			_, _ = h.session.Commit(h.sequence, code, nil)
			continue
		}
		out, err := h.session.Commit(h.sequence, code, l.out)
		l.out, l.over = out, l.over || err != nil
		b.announce(l)
	}
	b.held = nil
	return n
}

// Held returns how many messages wait for [Broker.Commit].
func (b *Broker) Held() int {
	b.mu.Lock()
	defer b.unlock()
	return len(b.held)
}

// State returns the state of a session, nil if there is none.
func (b *Broker) State(clientID string) []byte {
	b.mu.Lock()
	defer b.unlock()
	if s := b.table.Get(clientID); s != nil {
		return s.AppendState(nil)
	}
	return nil
}

// Restore adds a session from its state.
func (b *Broker) Restore(state []byte) error {
	b.mu.Lock()
	defer b.unlock()
	s, err := b.table.Restore(b.now(), state)
	if err != nil {
		return err
	}
	for f, sub := range s.Subscriptions() {
		b.tree.Add(f, s, sub)
	}
	return nil
}

// Sessions returns how many sessions there are.
func (b *Broker) Sessions() int {
	b.mu.Lock()
	defer b.unlock()
	return b.table.Len()
}

// linkOf returns the link of a connection, nil for none.
func linkOf(c *session.Conn) *Link {
	if c == nil {
		return nil
	}
	return c.Tag.(*Link)
}

// announce notes that a link has something to send.
func (b *Broker) announce(l *Link) {
	if !l.called && (len(l.out) > 0 || l.over) {
		l.called = true
		b.wake = append(b.wake, l)
	}
}

// unlock tells the links that have something to send.
func (b *Broker) unlock() {
	for i, l := range b.wake {
		l.notify()
		b.wake[i] = nil
	}
	b.wake = b.wake[:0]
	b.mu.Unlock()
}

// Connect implements session.Broker.
func (b *Broker) Connect(_ *session.Conn, p *packet.Connect) session.Answer {
	var a session.Answer
	if b.hooks.Connect != nil {
		a = b.hooks.Connect(p)
	} else if p.Properties.Bytes(packet.AuthenticationMethod) != nil {
		a.Code = packet.BadAuthenticationMethod
	}
	if len(p.ClientID) == 0 && a.ClientID == "" {
		b.assigned++
		a.ClientID = fmt.Sprint("assigned-", b.assigned)
	}
	return a
}

// Auth implements session.Broker.
func (b *Broker) Auth(_ *session.Conn, p *packet.Auth) session.Answer {
	if b.hooks.Auth == nil {
		return session.Answer{Code: packet.BadAuthenticationMethod}
	}
	return b.hooks.Auth(p)
}

// Open implements session.Broker.
func (b *Broker) Open(_ *session.Conn, clientID string, clean bool) (*session.Session, bool) {
	s, present, old := b.table.Open(b.now(), clientID, clean)
	if l := linkOf(old); l != nil {
		l.out = old.Disconnect(packet.SessionTakenOver, "", l.out)
		l.over = true
		b.announce(l)
	}
	b.active = s
	return s, present
}
