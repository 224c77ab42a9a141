package channel

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"voltbus/internal/admission"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// ServerConfig describes a channel that peers open.
type ServerConfig struct {
	// Ports are the stations that can be reached: outstations for masters that dial in,
	// or masters for outstations that do. Who is on a connection is known by the link
	// addresses of its first frame; a port is served on one connection at a time, and a
	// new connection takes it from an old one.
	Ports []*station.Port
	// MaxConnections bounds the connections, 0 for 1000 more than there are ports. What
	// comes above that is closed at once.
	MaxConnections int
	// MaxAddress bounds the connections of one address, of IPv6 of one network of 64 bits;
	// 0 for 16 more than there are ports. What comes above that is closed at once.
	MaxAddress int
	// Notify, if not nil, is told of connections that come and go, by their goroutines.
	Notify func(s State)
}

const (
	spareConnections = 1000 // more than there are ports, in all
	spareOfAddress   = 16   // and of one address
)

// Server accepts connections. New starts nothing; Run does the work.
type Server struct {
	hub    *Hub
	config ServerConfig

	mu     sync.Mutex
	open   map[*conn]netip.Prefix // and where they come from
	each   map[netip.Prefix]int
	holder map[*station.Port]*conn
}

// NewServer returns a server that is not running.
func NewServer(h *Hub, c ServerConfig) (*Server, error) {
	if len(c.Ports) == 0 {
		return nil, errPorts
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = len(c.Ports) + spareConnections
	}
	if c.MaxAddress <= 0 {
		c.MaxAddress = len(c.Ports) + spareOfAddress
	}
	return &Server{
		hub: h, config: c, open: make(map[*conn]netip.Prefix), each: make(map[netip.Prefix]int), holder: make(map[*station.Port]*conn),
	}, nil
}

// Run serves a listener, which it closes, until ctx ends; then it returns nil. Any
// other end of the listener is an error.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	stop := context.AfterFunc(ctx, func() {
		_ = listener.Close()
		s.closeAll()
	})
	defer stop()
	defer s.closeAll()
	for {
		stream, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = stream.Close()
			}
			return nil
		case temporary(err):
			wait(ctx, acceptPause)
		case err != nil:
			_ = listener.Close()
			return err
		case !s.admit(ctx, stream, &serving):
			_ = stream.Close()
		}
	}
}

// acceptPause is how long a server waits when it has run out of descriptors.
const acceptPause = 100 * time.Millisecond

// temporary reports whether the next Accept may succeed.
func temporary(err error) bool {
	var timeout net.Error
	return err != nil && !errors.Is(err, net.ErrClosed) && errors.As(err, &timeout)
}

func (s *Server) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.shut()
	}
}

// admit serves a connection by a goroutine of its own, unless there are too many.
func (s *Server) admit(ctx context.Context, stream net.Conn, serving *sync.WaitGroup) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := admission.Network(stream.RemoteAddr())
	if len(s.open) >= s.config.MaxConnections || s.each[from] >= s.config.MaxAddress || ctx.Err() != nil {
		return false
	}
	c := newConn(s.hub, stream)
	s.open[c] = from
	s.each[from]++
	// A single port needs no frame to be found, and may speak first.
	if only := s.config.Ports[0]; len(s.config.Ports) == 1 && s.holder[only] == nil {
		s.holder[only] = c
		if err := c.add(only); err != nil {
			return false
		}
	}
	c.mux.Find = func(f link.Frame) *station.Port { return s.find(c, f) }
	serving.Go(func() { s.serve(c) })
	return true
}

func (s *Server) serve(c *conn) {
	address := peer(c.stream)
	opened := func() { s.notify(State{Online: true, Peer: address}) }
	err := c.serve(opened, func() { s.release(c) })
	s.notify(State{Peer: address, Err: err})
}

// release notes that a connection holds no ports any more.
func (s *Server) release(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.open[c]
	delete(s.open, c)
	if s.each[from]--; s.each[from] == 0 {
		delete(s.each, from)
	}
	for _, p := range c.mux.Ports() {
		delete(s.holder, p)
	}
}

// find returns the port that a frame is for and gives it to the connection. If another
// one holds it, the frame waits until that let go.
func (s *Server) find(c *conn, f link.Frame) *station.Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.config.Ports {
		if !p.Accepts(f.Header) {
			continue
		}
		if holder := s.holder[p]; holder != nil {
			if holder != c {
				c.claimFrom(holder, f)
			}
			return nil
		}
		if c.add(p) != nil {
			return nil
		}
		s.holder[p] = c
		return p
	}
	return nil
}

func (s *Server) notify(state State) {
	if s.config.Notify != nil {
		s.config.Notify(state)
	}
}
