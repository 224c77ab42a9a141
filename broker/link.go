package broker

import (
	"net/netip"
	"sync/atomic"
	"time"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// link is the broker's end of a network connection. The broker's lock guards it.
type link struct {
	broker  *Broker
	conn    *session.Conn
	out     []byte
	gate    uint64 // nothing is sent before the keeper has kept so many turns
	over    bool
	called  bool
	gone    bool
	notify  func()
	shut    func() // closes the socket
	arrived func() // says that it was let in, or is gone

	peer    netip.Addr
	secure  *certificate // what the client showed, nil for nothing
	local   bool         // may connect without a name
	tenant  *tenant      // nil before its CONNECT
	since   time.Time
	writing atomic.Int64 // since when a write to the socket takes, Unix nanoseconds; 0 for none. It needs no lock.
}

// certificate is what a client showed.
type certificate struct {
	name        string
	fingerprint [32]byte
}

// sendTime is how long a client may take to read what is sent to it.
const sendTime = 30 * time.Second

// stuck reports whether the client does not read.
func (l *link) stuck(now time.Time) bool {
	since := l.writing.Load()
	return since != 0 && now.UnixNano()-since > int64(sendTime)
}

// dial begins a network connection. notify is called with the lock held when there is something to send, or the
// connection is to be closed. false if there are too many.
func (b *Broker) dial(l *link) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopping || len(b.links) >= b.cfg.Setting.Clients {
		b.counts.Refused++
		return false
	}
	l.broker, l.since = b, b.cfg.Now()
	l.conn = session.NewConn(l.since, &b.config, b.handler)
	l.conn.Tag = l
	b.links[l] = struct{}{}
	return true
}

// receive handles what arrived. It returns what to wait for before more is read, nil for nothing, and for how long.
func (l *link) receive(data []byte) (until <-chan struct{}, pause time.Duration) {
	b := l.broker
	b.mu.Lock()
	defer b.unlock()
	if l.gone || l.over {
		return nil, 0
	}
	now := b.cfg.Now()
	b.active = l.conn.Session()
	out, err := l.conn.Receive(now, data, l.out)
	l.out = out
	if s := l.conn.Session(); s != nil {
		for _, d := range b.self {
			l.out = b.router.give(now, s, d, l.out)
		}
		b.keeping.changed(s)
	}
	clear(b.self)
	b.active, b.self = nil, b.self[:0]
	if err != nil {
		b.close(l)
	}
	b.announce(l)
	if l.over || l.tenant == nil {
		return nil, 0
	}
	if l.conn.Busy() || b.work.full() {
		return b.work.turn, 0
	}
	return nil, l.tenant.pause(now)
}

// take returns what is to be sent, and whether the connection is to be closed after that. done says that what take
// returned before was sent.
func (l *link) take(empty []byte) (out []byte, over bool) {
	b := l.broker
	b.mu.Lock()
	defer b.unlock()
	l.called = false
	if l.gate > b.keeper.kept && !b.stopping {
		return nil, false // the keeper announces it
	}
	out, l.out = l.out, empty[:0]
	if s := l.conn.Session(); s != nil && len(out) > 0 {
		now := b.cfg.Now()
		l.out = s.Flush(now, l.out)
		b.keeping.changed(s)
		b.announce(l)
	}
	return out, l.over && len(l.out) == 0
}

// lost says that the network connection is gone.
func (l *link) lost() {
	b := l.broker
	b.mu.Lock()
	defer b.unlock()
	l.over = true
	l.leave()
}

// leave takes the link out.
func (l *link) leave() {
	b := l.broker
	if l.gone {
		return
	}
	l.gone = true
	delete(b.links, l)
	s := l.conn.Session()
	b.table.Close(b.cfg.Now(), l.conn)
	if s != nil {
		b.keeping.changed(s)
	}
	if l.tenant != nil {
		delete(l.tenant.links, l)
		b.tenants.release(l.tenant)
	}
}

// close has a connection closed once everything is sent.
func (b *Broker) close(l *link) {
	l.over = true
	b.announce(l)
}

// disconnect ends a connection from this side.
func (b *Broker) disconnect(l *link, code packet.Code) {
	l.out = l.conn.Disconnect(code, "", l.out)
	b.close(l)
}

// announce notes that a link has something to send.
func (b *Broker) announce(l *link) {
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

// linkOf returns the link of a connection, nil for none.
func linkOf(c *session.Conn) *link {
	if c == nil {
		return nil
	}
	l, _ := c.Tag.(*link)
	return l
}
