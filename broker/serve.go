package broker

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
)

// Door is where clients come in.
type Door struct {
	Listener net.Listener
	// TLS secures the connections, nil for none. A certificate that a client shows must have been verified by it.
	TLS *tls.Config
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

// serve serves the clients of a door until ctx ends, each by one goroutine. While a client without TLS is silent, its
// goroutine holds no buffer.
func (b server) serve(ctx context.Context, d Door) error {
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
				b.cfg.Log.WarnContext(ctx, "an MQTT client cannot be let in", slog.Any("err", err))
				sleep(ctx, 100*time.Millisecond)
				continue
			}
			return fmt.Errorf("accept MQTT clients on %s: %w", d.Listener.Addr(), err)
		}
		if w := b.gate.Wait(b.cfg.Now()); w > 0 {
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
func (b server) welcome(ctx context.Context, conn net.Conn, secure *tls.Config) {
	l := &link{peer: peerOf(conn)}
	if !b.arrive(l) {
		_ = conn.Close()
		return
	}
	defer l.arrived()
	if secure == nil {
		l.local = b.cfg.Setting.Anonymous && l.peer.IsLoopback()
		b.attend(ctx, conn, l)
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
		l.secure = &certificate{chain[0].Subject.CommonName, sha256.Sum256(chain[0].Raw)}
	}
	b.attend(ctx, t, l)
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
func (b *Broker) Attend(ctx context.Context, conn net.Conn, peer netip.Addr, local bool) {
	l := &link{peer: peer.Unmap(), local: local && b.cfg.Setting.Anonymous && peer.Unmap().IsLoopback()}
	if !b.server.arrive(l) {
		_ = conn.Close()
		return
	}
	defer l.arrived()
	b.server.attend(ctx, conn, l)
}

// arrive counts a client until it is let in. false if too many have arrived that are not.
func (b server) arrive(l *link) (arrived bool) {
	if l.arrived, arrived = b.fresh.Enter(l.peer); !arrived {
		b.mu.Lock()
		b.counts.Refused++
		b.mu.Unlock()
	}
	return arrived
}

func (b server) attend(ctx context.Context, conn net.Conn, l *link) {
	defer conn.Close()
	s := &sender{link: l, conn: conn}
	l.notify, l.shut = s.start, func() { _ = conn.Close() }
	if !b.dial(l) {
		return
	}
	defer s.working.Wait()
	defer l.lost()
	raw, is := conn.(*net.TCPConn)
	if !is {
		b.read(ctx, conn, l)
		return
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return
	}
	_ = rc.Read(func(fd uintptr) bool { return b.readable(ctx, int(fd), l) })
}

// read reads through a buffer that it keeps.
func (b server) read(ctx context.Context, conn net.Conn, l *link) {
	buffer := make([]byte, secureReadSize)
	for {
		n, err := conn.Read(buffer)
		if n > 0 {
			b.receive(ctx, l, buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// readable reads what there is and reports whether the connection is at its end; otherwise the runtime calls again when
// there is more.
func (b server) readable(ctx context.Context, fd int, l *link) bool {
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
			b.receive(ctx, l, buffer[:n])
		}
	}
}

// receive hands over what arrived, and waits as long as the client is not to be read.
func (b server) receive(ctx context.Context, l *link, data []byte) {
	until, pause := l.receive(data)
	for until != nil {
		select {
		case <-until:
		case <-ctx.Done():
			return
		}
		until, pause = l.receive(nil)
	}
	if pause > 0 {
		sleep(ctx, pause)
	}
}

// sender sends what a link has to send.
type sender struct {
	link    *link
	conn    net.Conn
	mu      sync.Mutex
	working sync.WaitGroup
}

// start is the notify function of the link. Once it was called it is not called again before take.
func (s *sender) start() { s.working.Go(s.send) }

// send sends until there is nothing left.
func (s *sender) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, over := s.link.take(nil)
	if len(out) > 0 {
		s.link.writing.Store(s.link.broker.cfg.Now().UnixNano())
		_, err := s.conn.Write(out)
		s.link.writing.Store(0)
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
