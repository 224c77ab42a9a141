// Package door lets the clients of a broker in, over TCP, TLS and connections that others made, and moves bytes between them and the broker.
package door

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"voltbus/broker/guard"
)

// Door is where clients come in.
type Door struct {
	Listener net.Listener
	// TLS secures the connections, nil for none. A certificate that a client shows must have been verified by it.
	TLS *tls.Config
}

// Caller is a client that comes in.
type Caller struct {
	Peer   netip.Addr
	Secure *Certificate // what it showed, nil for nothing
	Local  bool         // it may connect without a name
	// Arrived says that it was let in, or is gone.
	Arrived func()
	// Notify is called when there is something to send, or the connection is to be closed; Shut closes the socket.
	Notify func(Link)
	Shut   func()
}

// Certificate is what a client showed.
type Certificate struct {
	Name        string
	Fingerprint [32]byte
}

// Link is the broker's end of a connection.
type Link interface {
	// Receive handles what arrived. It returns what to wait for before more is read, nil for nothing, and for how long.
	Receive(ctx context.Context, data []byte) (until <-chan struct{}, pause time.Duration)
	// Take returns what is to be sent, and whether the connection is to be closed after that; Writing since when that takes, in Unix
	// nanoseconds, 0 for not any more.
	Take(empty []byte) (out []byte, over bool)
	Writing(since int64)
	// Lost says that the network connection is gone.
	Lost()
}

// Host is the broker.
type Host interface {
	// Arrive counts a client until it is let in; false if too many have arrived that are not.
	Arrive(peer netip.Addr) (arrived func(), ok bool)
	// Dial begins a connection; false if there are too many.
	Dial(c Caller) (Link, bool)
}

// Hall is where all doors lead.
type Hall struct {
	Host      Host
	Gate      *guard.Turnstile
	Anonymous bool // clients of this machine may connect without a name
	Now       func() time.Time
	Log       *slog.Logger
}

// How much is read at once. A TLS connection keeps its buffer while its client is silent.
const (
	readSize       = 4 << 10
	secureReadSize = 1 << 10
)

// handshakeTime is how long a client may take for TLS.
const handshakeTime = 10 * time.Second

//nolint:gochecknoglobals // buffers of silent connections are of use to others
var buffers = sync.Pool{New: func() any { return new([readSize]byte) }}

// Serve serves the clients of a door until ctx ends, each by one goroutine. While a client without TLS is silent, its
// goroutine holds no buffer.
func (b *Hall) Serve(ctx context.Context, d Door) error {
	stop := context.AfterFunc(ctx, func() { _ = d.Listener.Close() })
	defer stop()
	var working sync.WaitGroup
	defer working.Wait()
	for {
		conn, err := d.Listener.Accept()
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil:
			if passing(err) {
				b.Log.WarnContext(ctx, "an MQTT client cannot be let in", slog.Any("err", err))
				sleep(ctx, 100*time.Millisecond)
				continue
			}
			return fmt.Errorf("accept MQTT clients on %s: %w", d.Listener.Addr(), err)
		}
		if w := b.Gate.Wait(b.Now()); w > 0 {
			sleep(ctx, w)
		}
		working.Go(func() { b.welcome(ctx, conn, d.TLS) })
	}
}

// passing reports whether an error of Accept may be over soon, such as that of too many open files.
func passing(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.ENOBUFS)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// welcome serves one client.
func (b *Hall) welcome(ctx context.Context, conn net.Conn, secure *tls.Config) {
	c, ok := b.arrive(conn, peerOf(conn))
	if !ok {
		return
	}
	defer c.Arrived()
	if secure == nil {
		c.Local = b.Anonymous && c.Peer.IsLoopback()
		b.attend(ctx, conn, c)
		return
	}
	t := tls.Server(conn, secure)
	limited, cancel := context.WithTimeout(ctx, handshakeTime)
	err := t.HandshakeContext(limited)
	cancel()
	if err != nil {
		_ = conn.Close()
		return
	}
	if chain := t.ConnectionState().PeerCertificates; len(chain) > 0 {
		c.Secure = &Certificate{chain[0].Subject.CommonName, sha256.Sum256(chain[0].Raw)}
	}
	b.attend(ctx, t, c)
}

// arrive counts a client until it is let in; one of too many is sent away.
func (b *Hall) arrive(conn net.Conn, peer netip.Addr) (c Caller, ok bool) {
	if c.Arrived, ok = b.Host.Arrive(peer); !ok {
		_ = conn.Close()
	}
	c.Peer = peer
	return c, ok
}

func peerOf(conn net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}

// Attend serves a client that comes by a connection that somebody else made, such as a WebSocket, until it ends. local
// says that it may connect without a name if the configuration lets clients of this machine.
func (b *Hall) Attend(ctx context.Context, conn net.Conn, peer netip.Addr, local bool) {
	c, ok := b.arrive(conn, peer.Unmap())
	if !ok {
		return
	}
	defer c.Arrived()
	c.Local = local && b.Anonymous && c.Peer.IsLoopback()
	b.attend(ctx, conn, c)
}

func (b *Hall) attend(ctx context.Context, conn net.Conn, c Caller) {
	defer conn.Close()
	s := &sender{now: b.Now, conn: conn}
	c.Notify, c.Shut = s.start, func() { _ = conn.Close() }
	l, ok := b.Host.Dial(c)
	if !ok {
		return
	}
	defer s.working.Wait()
	defer l.Lost()
	raw, is := conn.(*net.TCPConn)
	if !is {
		read(ctx, conn, l)
		return
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return
	}
	_ = rc.Read(func(fd uintptr) bool { return readable(ctx, int(fd), l) })
}

// read reads through a buffer that it keeps.
func read(ctx context.Context, conn net.Conn, l Link) {
	buffer := make([]byte, secureReadSize)
	for {
		n, err := conn.Read(buffer)
		if n > 0 {
			receive(ctx, l, buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// readable reads what there is and reports whether the connection is at its end; otherwise the runtime calls again when
// there is more.
func readable(ctx context.Context, fd int, l Link) bool {
	buffer := buffers.Get().(*[readSize]byte)
	defer buffers.Put(buffer)
	for {
		n, err := syscall.Read(fd, buffer[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		case err != nil || n <= 0:
			return true
		default:
			receive(ctx, l, buffer[:n])
		}
	}
}

// receive hands over what arrived, and waits as long as the client is not to be read.
func receive(ctx context.Context, l Link, data []byte) {
	until, pause := l.Receive(ctx, data)
	for until != nil {
		select {
		case <-until:
		case <-ctx.Done():
			return
		}
		until, pause = l.Receive(ctx, nil)
	}
	if pause > 0 {
		sleep(ctx, pause)
	}
}

// sender sends what a link has to send.
type sender struct {
	now     func() time.Time
	conn    net.Conn
	mu      sync.Mutex
	working sync.WaitGroup
}

// start is the notify function of the link. Once it was called it is not called again before take.
func (s *sender) start(l Link) { s.working.Go(func() { s.send(l) }) }

// send sends until there is nothing left.
func (s *sender) send(l Link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, over := l.Take(nil)
	if len(out) > 0 {
		l.Writing(s.now().UnixNano())
		_, err := s.conn.Write(out)
		l.Writing(0)
		if err != nil {
			_ = s.conn.Close()
			return
		}
	}
	if over {
		s.hangUp()
	}
}

// lingerTime is how long a client may take to close a connection that the broker ended.
const lingerTime = 2 * time.Second

// hangUp ends a connection after what was sent. What the client sends meanwhile is read and discarded: closing at once would make
// its system discard what it has not read yet, such as the DISCONNECT with the reason.
func (s *sender) hangUp() {
	half, can := s.conn.(interface{ CloseWrite() error })
	if !can || half.CloseWrite() != nil || s.conn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		_ = s.conn.Close()
	}
}
