package broker

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"voltbus/broker/door"
	"voltbus/broker/tenant"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// link is the broker's end of a network connection. The broker's lock guards it.
type link struct {
	broker *Broker
	conn   *session.Conn
	out    []byte
	gate   uint64 // nothing is sent before the keeper has kept so many turns
	over   bool
	called bool
	gone   bool
	door.Caller
	tenant  *tenant.Tenant[*link] // nil before its CONNECT
	looks   tenant.Looks
	moving  *session.Answer // what its CONNECT is answered when its session is here; nil if it does not wait
	since   time.Time
	writing atomic.Int64 // since when a write to the socket takes, Unix nanoseconds; 0 for none. It needs no lock.
}

// sendTime is how long a client may take to read what is sent to it.
const sendTime = 30 * time.Second

// stuck reports whether the client does not read.
func (l *link) stuck(now time.Time) bool {
	since := l.writing.Load()
	return since != 0 && now.UnixNano()-since > int64(sendTime)
}

// Arrive implements door.Host.
func (b server) Arrive(peer netip.Addr) (arrived func(), ok bool) {
	if arrived, ok = b.fresh.Enter(peer); !ok {
		b.mu.Lock()
		b.counts.Refused++
		b.mu.Unlock()
	}
	return arrived, ok
}

// Dial implements door.Host. The caller is notified with the lock held.
func (b server) Dial(c door.Caller) (door.Link, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopping || len(b.links) >= b.cfg.Setting.Clients {
		b.counts.Refused++
		return nil, false
	}
	l := &link{broker: b.Broker, since: b.cfg.Now(), Caller: c}
	l.conn = session.NewConn(l.since, &b.config, b.handler)
	l.conn.Tag = l
	b.links[l] = struct{}{}
	return l, true
}

// Writing implements door.Link.
func (l *link) Writing(since int64) { l.writing.Store(since) }

// Receive implements door.Link.
func (l *link) Receive(ctx context.Context, data []byte) (until <-chan struct{}, pause time.Duration) {
	until, pause = l.handle(func(now time.Time, out []byte) ([]byte, error) { return l.conn.Receive(now, data, out) })
	if l.moving != nil {
		return l.broker.server.fetch(ctx, l)
	}
	return until, pause
}

// handle has the connection do something that appends what is to be sent, and returns what receive does.
func (l *link) handle(do func(now time.Time, out []byte) ([]byte, error)) (until <-chan struct{}, pause time.Duration) {
	b := l.broker
	b.mu.Lock()
	defer b.unlock()
	if l.gone || l.over {
		return nil, 0
	}
	now := b.cfg.Now()
	b.active = l.conn.Session()
	out, err := do(now, l.out)
	l.out = out
	if s := l.conn.Session(); s != nil {
		for _, d := range b.self {
			l.out, _ = b.router.give(now, s, d, l.out)
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
	return nil, l.tenant.Pause(now)
}

// Take implements door.Link.
func (l *link) Take(empty []byte) (out []byte, over bool) {
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

// Lost implements door.Link.
func (l *link) Lost() {
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
		b.keeping.touchShared(s)
	}
	if l.tenant != nil {
		delete(l.tenant.Links, l)
		b.tenants.Release(l.tenant)
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
		l.Notify(l)
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
