package channel

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// Bounds of a UDP listener.
const (
	maxPeers     = 4096 // the one that was silent longest makes room
	maxDatagrams = 64   // waiting for the reader of a peer; more are dropped
	maxDatagram  = 64 << 10
)

// ListenUDP opens a UDP socket as a listener, to be served by a [Server] in either role:
// every address that sends something becomes a connection, and each write a datagram.
// What comes from where is only known from the datagrams, which anyone can forge: use it
// on networks that are closed.
func ListenUDP(ctx context.Context, address string) (net.Listener, error) {
	socket, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	udp, ok := socket.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, socket.Close())
	}
	return &udpListener{
		socket: udp, room: make([]byte, maxDatagram), peers: make(map[netip.AddrPort]*udpPeer), closed: make(chan struct{}),
	}, nil
}

// udpListener hands datagrams to the peers they are from. Its socket is read by Accept,
// which a server calls all the time.
type udpListener struct {
	socket *net.UDPConn
	room   []byte // belongs to Accept
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	peers map[netip.AddrPort]*udpPeer
}

// Accept reads until something comes from a new peer.
func (l *udpListener) Accept() (net.Conn, error) {
	for {
		n, from, err := l.socket.ReadFromUDPAddrPort(l.room)
		if err != nil {
			return nil, err
		}
		if p := l.deliver(from, append([]byte(nil), l.room[:n]...)); p != nil {
			return p, nil
		}
	}
}

// deliver gives a datagram to its peer, and returns the peer if it is new.
func (l *udpListener) deliver(from netip.AddrPort, datagram []byte) *udpPeer {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, known := l.peers[from]
	if !known {
		l.makeRoom()
		p = &udpPeer{listener: l, address: from, arrived: make(chan []byte, maxDatagrams), gone: make(chan struct{})}
		l.peers[from] = p
	}
	p.heard = time.Now()
	select {
	case p.arrived <- datagram:
	default: // dropped, as a network does
	}
	if known {
		return nil
	}
	return p
}

// makeRoom drops the peer that was silent longest if there are too many.
func (l *udpListener) makeRoom() {
	if len(l.peers) < maxPeers {
		return
	}
	var oldest *udpPeer
	for _, p := range l.peers {
		if oldest == nil || p.heard.Before(oldest.heard) {
			oldest = p
		}
	}
	delete(l.peers, oldest.address)
	oldest.end()
}

// Close closes the socket and ends all peers.
func (l *udpListener) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		close(l.closed)
		err = l.socket.Close()
	})
	return err
}

// Addr returns the local address.
func (l *udpListener) Addr() net.Addr { return l.socket.LocalAddr() }

func (l *udpListener) forget(p *udpPeer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[p.address] == p {
		delete(l.peers, p.address)
	}
}

// udpPeer is an address that datagrams come from, as a connection without deadlines.
type udpPeer struct {
	listener *udpListener
	address  netip.AddrPort
	arrived  chan []byte
	gone     chan struct{}
	once     sync.Once
	heard    time.Time // guarded by the listener
	rest     []byte    // of a datagram; belongs to the reader
}

// Read reads what is left of a datagram, or the next one.
func (p *udpPeer) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		select {
		case p.rest = <-p.arrived:
		case <-p.gone:
			return 0, io.EOF
		case <-p.listener.closed:
			return 0, net.ErrClosed
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Write sends a datagram.
func (p *udpPeer) Write(b []byte) (int, error) {
	select {
	case <-p.gone:
		return 0, net.ErrClosed
	default:
		return p.listener.socket.WriteToUDPAddrPort(b, p.address)
	}
}

// Close forgets the peer; what it sends next makes it new.
func (p *udpPeer) Close() error {
	p.end()
	p.listener.forget(p)
	return nil
}

func (p *udpPeer) end() { p.once.Do(func() { close(p.gone) }) }

// LocalAddr returns the address of the socket.
func (p *udpPeer) LocalAddr() net.Addr { return p.listener.Addr() }

// RemoteAddr returns the address of the peer.
func (p *udpPeer) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(p.address) }

// SetDeadline is not supported.
func (p *udpPeer) SetDeadline(time.Time) error { return os.ErrNoDeadline }

// SetReadDeadline is not supported.
func (p *udpPeer) SetReadDeadline(time.Time) error { return os.ErrNoDeadline }

// SetWriteDeadline is not supported.
func (p *udpPeer) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }
