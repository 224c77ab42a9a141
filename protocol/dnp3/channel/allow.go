package channel

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Allow returns a listener that accepts connections only from addresses within one of the
// prefixes. Others are closed at once; refused, if not nil, is called with them, by the
// goroutine that calls Accept.
//
// An address can be forged where packets can be: this keeps mistakes and the curious away, TLS
// keeps away everybody else.
func Allow(listener net.Listener, allowed []netip.Prefix, refused func(from net.Addr)) net.Listener {
	return &guarded{Listener: listener, allowed: allowed, refused: refused}
}

type guarded struct {
	net.Listener

	allowed []netip.Prefix
	refused func(from net.Addr)
}

// Accept implements net.Listener.
func (g *guarded) Accept() (net.Conn, error) {
	for {
		stream, err := g.Listener.Accept()
		if err != nil || g.admits(stream.RemoteAddr()) {
			return stream, err
		}
		if g.refused != nil {
			g.refused(stream.RemoteAddr())
		}
		_ = stream.Close()
	}
}

func (g *guarded) admits(from net.Addr) bool {
	if from == nil {
		return false
	}
	at, err := netip.ParseAddrPort(from.String())
	if err != nil {
		return false
	}
	for _, p := range g.allowed {
		if p.Contains(at.Addr().Unmap().WithZone("")) {
			return true
		}
	}
	return false
}

// ParseAllowed reads an address or a range of addresses, such as 10.0.0.5 or 10.0.0.0/24.
func ParseAllowed(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Addr().Is4In6() {
			return netip.Prefix{}, fmt.Errorf("%q is no range of addresses; write one such as 10.0.0.0/24", text)
		}
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, fmt.Errorf("%q is no address; write one such as 10.0.0.5, or a range such as 10.0.0.0/24", text)
	}
	a = a.Unmap()
	return netip.PrefixFrom(a, a.BitLen()), nil
}
