package channel

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
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
	// new connection takes it from an old one. More may be added later.
	Ports []*station.Port
	// Ask is for masters: every connection is asked for the link status of the stations that are missing, as an outstation
	// that dialed in may wait to be spoken to. Without it a single port is opened on the first connection, and there must be
	// at least one port.
	Ask bool
	// Anonymous is how long a connection may remain unidentified; 0 for no limit.
	Anonymous time.Duration
	// MaxConnections bounds the connections, 0 for 1000 more than there are ports. Further connections are
	// closed at once.
	MaxConnections int
	// MaxAddress bounds the connections of one address, for IPv6 of one /64 network; 0 for 16 more than there
	// are ports. Further connections are closed at once.
	MaxAddress int
	// Notify, if not nil, is called with connections that come and go, by their goroutines.
	Notify func(s State)
	// Gone, if not nil, is called with a port whose connection has ended, before another connection can have it.
	Gone func(p *station.Port)
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
	paused bool
	ports  []*station.Port
	open   map[*conn]netip.Prefix // and where they come from
	each   map[netip.Prefix]int
	holder map[*station.Port]*conn
}

// NewServer returns a server that is not running.
func NewServer(h *Hub, c ServerConfig) (*Server, error) {
	if len(c.Ports) == 0 && !c.Ask {
		return nil, errPorts
	}
	return &Server{
		hub: h, config: c, ports: slices.Clone(c.Ports),
		open: make(map[*conn]netip.Prefix), each: make(map[netip.Prefix]int), holder: make(map[*station.Port]*conn),
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
		c.stream.shut()
	}
}

// full reports whether another connection from a network is one too many.
func (s *Server) full(from netip.Prefix) bool {
	most, each := s.config.MaxConnections, s.config.MaxAddress
	if most <= 0 {
		most = len(s.ports) + spareConnections
	}
	if each <= 0 {
		each = len(s.ports) + spareOfAddress
	}
	return len(s.open) >= most || s.each[from] >= each
}

// admit serves a connection by a goroutine of its own, unless there are too many.
func (s *Server) admit(ctx context.Context, stream net.Conn, serving *sync.WaitGroup) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := admission.Network(stream.RemoteAddr())
	if s.full(from) || ctx.Err() != nil {
		return false
	}
	c := newConn(s.hub, stream)
	c.name(s.config.Anonymous)
	if s.paused {
		c.hold()
	}
	s.open[c] = from
	s.each[from]++
	// A single port needs no frame to be found, and may speak first.
	if len(s.ports) == 1 && !s.config.Ask && s.holder[s.ports[0]] == nil {
		s.holder[s.ports[0]] = c
		if err := c.add(s.ports[0]); err != nil {
			return false
		}
	}
	c.mux.Find = func(f link.Frame) *station.Port { return s.find(c, f) }
	serving.Go(func() { s.serve(c) })
	return true
}

func (s *Server) serve(c *conn) {
	address := c.stream.peer
	opened := func() {
		s.notify(State{Online: true, Peer: address})
		if s.config.Ask {
			c.ask(s.missing()...)
		}
	}
	err := c.serve(opened, func() { s.release(c) })
	s.notify(State{Peer: address, Err: err})
}

// release notes that a connection holds no ports any more.
func (s *Server) release(c *conn) {
	held := slices.Clone(c.mux.Ports()) // it is closed: nobody changes them
	for _, p := range held {
		if s.config.Gone != nil && s.holds(c, p) {
			s.config.Gone(p)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.open[c]
	delete(s.open, c)
	if s.each[from]--; s.each[from] == 0 {
		delete(s.each, from)
	}
	for _, p := range held {
		if s.holder[p] == c {
			delete(s.holder, p)
		}
	}
}

func (s *Server) holds(c *conn, p *station.Port) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder[p] == c
}

// find returns the port that a frame is for and gives it to the connection. If another
// one holds it, the frame waits until that let go.
func (s *Server) find(c *conn, f link.Frame) *station.Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ports {
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
