package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// DialTCP returns a Dialer for a TCP address, with TLS if a configuration is given. TCP_NODELAY is on, as it
// is by default in Go.
func DialTCP(address string, secure *tls.Config) Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		if secure == nil {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}
		return (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", address)
	}
}

// tryLimit is how long one address of several is tried if the context has no deadline.
const tryLimit = 5 * time.Second

// DialFirst returns a Dialer for a peer with several addresses: they are tried in order each time, so that
// the first is used whenever possible. The time left until the context's deadline is shared among the
// remaining ones. The error lists the failure of each.
func DialFirst(ways ...Dialer) Dialer {
	return func(ctx context.Context) (io.ReadWriteCloser, error) {
		var all []error
		for i, dial := range ways {
			limit := tryLimit
			if deadline, ok := ctx.Deadline(); ok {
				limit = time.Until(deadline) / time.Duration(len(ways)-i)
			}
			one, cancel := context.WithTimeout(ctx, limit)
			stream, err := dial(one)
			cancel()
			if err == nil {
				return stream, nil
			}
			all = append(all, err)
			if ctx.Err() != nil {
				break
			}
		}
		return nil, errors.Join(all...)
	}
}

// DialUDP returns a Dialer for a UDP address from a local one, "" for any. Each fragment travels in one
// datagram.
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
		stream, err := dialer.DialContext(ctx, "udp", address)
		if err != nil {
			return nil, err
		}
		return datagrams{stream}, nil
	}
}

// datagrams is a UDP socket that stays open while its peer is away. Two ends that closed theirs
// whenever the other was away would never find each other.
type datagrams struct{ net.Conn }

// Read implements io.Reader.
func (d datagrams) Read(p []byte) (int, error) {
	for {
		n, err := d.Conn.Read(p)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return n, err
		}
	}
}

// Write implements io.Writer. Data without a receiver is lost, as on any such line.
func (d datagrams) Write(p []byte) (int, error) {
	n, err := d.Conn.Write(p)
	if errors.Is(err, syscall.ECONNREFUSED) { // an earlier datagram's, and this one was not sent
		n, err = d.Conn.Write(p)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return len(p), nil
	}
	return n, err
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
