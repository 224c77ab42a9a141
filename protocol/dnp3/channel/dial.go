package channel

import (
	"context"
	"crypto/tls"
	"io"
	"net"
)

// DialTCP returns a way to reach a TCP address, with TLS if a configuration is given.
// TCP_NODELAY is on, as it is by default in Go.
func DialTCP(address string, secure *tls.Config) Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		if secure == nil {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
		return (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", address)
	}
}

// DialUDP returns a way to speak to a UDP address from a local one, "" for any. Each
// fragment travels in one datagram.
func DialUDP(local, address string) Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		dialer := net.Dialer{}
		if local != "" {
			from, err := net.ResolveUDPAddr("udp", local)
			if err != nil {
				return nil, err
			}
			dialer.LocalAddr = from
		}
		return dialer.DialContext(ctx, "udp", address)
	}
}

// Listen opens a TCP listener, with TLS if a configuration is given.
func Listen(ctx context.Context, address string, secure *tls.Config) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil || secure == nil {
		return listener, err
	}
	return tls.NewListener(listener, secure), nil
}

// peer returns the address of the other side.
func peer(stream io.ReadWriteCloser) string {
	if c, ok := stream.(net.Conn); ok && c.RemoteAddr() != nil {
		return c.RemoteAddr().String()
	}
	return ""
}
