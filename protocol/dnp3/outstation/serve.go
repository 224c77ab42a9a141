package outstation

import (
	"context"
	"net"
	"sync"

	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// Server is an outstation that masters can reach by TCP. Close it after use.
type Server struct {
	address net.Addr
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Listen serves an outstation, by the link address local, to the masters that sessions describe, one for each, at a
// TCP address such as 127.0.0.1:20000 (port 0: one that is free). It goes on when it has returned, until Close or the
// end of ctx. Whoever needs TLS, a serial line or UDP uses package channel.
func Listen(ctx context.Context, address string, local link.Address, o *Outstation, sessions ...SessionConfig) (*Server, error) {
	ports := make([]*station.Port, len(sessions))
	for i, c := range sessions {
		session, err := o.Session(c)
		if err != nil {
			return nil, err
		}
		if ports[i], err = station.NewPort(station.Config{Local: local, Remote: c.Master}, session); err != nil {
			return nil, err
		}
	}
	hub := channel.NewHub(channel.HubConfig{})
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: ports})
	if err != nil {
		return nil, err
	}
	listener, err := channel.Listen(ctx, address, nil)
	if err != nil {
		return nil, err
	}
	s := &Server{address: listener.Addr()}
	ctx, s.stop = context.WithCancel(ctx)
	s.running.Go(func() { _ = hub.Run(ctx) })
	s.running.Go(func() { _ = server.Run(ctx, listener) })
	return s, nil
}

// Addr is where masters dial.
func (s *Server) Addr() net.Addr { return s.address }

// Close hangs up.
func (s *Server) Close() {
	s.stop()
	s.running.Wait()
}
