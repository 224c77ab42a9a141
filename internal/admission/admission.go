// Package admission limits the connections of a listener, in total and per address, so that no client can shut out the others.
package admission

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
)

// Limits bound the connections of a listener.
type Limits struct {
	Total int
	// Address is the limit for one address, for IPv6 one /64 network; 0 for Total. It does not apply to
	// loopback, used by a reverse proxy and the programs on the machine.
	Address int
}

// Listener accepts connections within its limits. At a limit, the connection that has been idle longest, from the
// same address if that has used its share, is closed for the new one; if all are busy, the new one is closed.
type Listener struct {
	net.Listener
	limits Limits

	mu      sync.Mutex
	open    int
	each    map[netip.Prefix]int
	waiting list.List // of *Conn, longest idle first
	closed  uint64
}

// New returns a listener that bounds the connections of another.
func New(l net.Listener, limits Limits) *Listener {
	if limits.Address == 0 {
		limits.Address = limits.Total
	}
	return &Listener{Listener: l, limits: limits, each: map[netip.Prefix]int{}}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		stream, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &Conn{Conn: stream, listener: l, network: Network(stream.RemoteAddr())}
		old, admitted := l.admit(c)
		if old != nil {
			_ = old.Close()
		}
		if admitted {
			return c, nil
		}
		_ = stream.Close()
	}
}

// State returns how many connections are open, and how many were closed because of a limit.
func (l *Listener) State() (open int, closed uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.closed
}

// admit adds a connection; old must be closed for it.
func (l *Listener) admit(c *Conn) (old *Conn, admitted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	crowded := l.each[c.network] >= l.limits.Address && !c.network.Addr().IsLoopback()
	if crowded || l.open >= l.limits.Total {
		l.closed++
		if old = l.longest(c.network, crowded); old == nil {
			return nil, false
		}
		l.drop(old)
	}
	l.open++
	l.each[c.network]++
	c.place = l.waiting.PushBack(c)
	return old, true
}

// longest returns the connection that has been idle longest, only from the network if that is crowded; nil if
// none is idle. The caller holds mu.
func (l *Listener) longest(network netip.Prefix, crowded bool) *Conn {
	for e := l.waiting.Front(); e != nil; e = e.Next() {
		if c, _ := e.Value.(*Conn); !crowded || c.network == network {
			return c
		}
	}
	return nil
}

// drop removes a connection. The caller holds mu.
func (l *Listener) drop(c *Conn) {
	if c.gone {
		return
	}
	c.gone = true
	l.open--
	if l.each[c.network]--; l.each[c.network] == 0 {
		delete(l.each, c.network)
	}
	if c.place != nil {
		l.waiting.Remove(c.place)
		c.place = nil
	}
}

// Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	listener *Listener
	network  netip.Prefix

	// Guarded by the listener.
	working int
	gone    bool
	place   *list.Element // among idle connections; nil while busy
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.listener.drop(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// work records that work of an authenticated client begins on the connection, or with -1 that it ends.
func (c *Conn) work(more int) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.working += more
	switch {
	case c.gone:
	case c.working > 0 && c.place != nil:
		c.listener.waiting.Remove(c.place)
		c.place = nil
	case c.working == 0 && c.place == nil:
		c.place = c.listener.waiting.PushBack(c)
	}
}

type connKey struct{}

// Context returns a context that knows its connection, which may be secured by TLS; for http.Server.ConnContext.
func Context(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	if c, ok := c.(*Conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// Work marks the connection of a context as serving an authenticated client until done is called: it is not
// closed for others meanwhile. A context without a connection is ignored.
func Work(ctx context.Context) (done func()) {
	c, ok := ctx.Value(connKey{}).(*Conn)
	if !ok {
		return func() {}
	}
	c.work(1)
	return sync.OnceFunc(func() { c.work(-1) })
}

// Network returns what counts as one address: for IPv6 the /64 network, since the owner of one of its addresses has them all.
func Network(a net.Addr) netip.Prefix {
	if a == nil {
		return netip.Prefix{}
	}
	return ParseNetwork(a.String())
}

// ParseNetwork is Network of an address as text, with or without a port; the zero Prefix for anything else.
func ParseNetwork(text string) netip.Prefix {
	at, err := netip.ParseAddrPort(text)
	host := at.Addr()
	if err != nil {
		if host, err = netip.ParseAddr(text); err != nil {
			return netip.Prefix{}
		}
	}
	host = host.Unmap().WithZone("")
	bits := host.BitLen()
	if host.Is6() && !host.IsLoopback() {
		bits = 64
	}
	p, _ := host.Prefix(bits) // of valid length
	return p
}
