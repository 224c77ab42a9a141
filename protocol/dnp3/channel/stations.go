package channel

import (
	"slices"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// Add makes another port reachable by peers. With ServerConfig.Ask all connections are probed for its peer.
func (s *Server) Add(p *station.Port) {
	s.mu.Lock()
	s.ports = append(s.ports, p)
	s.mu.Unlock()
	if s.config.Ask {
		for _, c := range s.connections() {
			c.ask(p)
		}
	}
}

// Remove removes a port after it has sent pending data. Its connection stays.
func (s *Server) Remove(p *station.Port) {
	s.mu.Lock()
	s.ports = slices.DeleteFunc(s.ports, func(other *station.Port) bool { return other == p })
	holder := s.holder[p]
	delete(s.holder, p)
	s.mu.Unlock()
	if holder != nil {
		holder.detach(p)
	}
}

// Connected reports whether the peer of a port is on a connection.
func (s *Server) Connected(p *station.Port) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holder[p] != nil
}

// Pause keeps all connections, also those to come, from handling what arrives until Resume, as [Line.Pause] does. One
// goroutine calls both.
func (s *Server) Pause() {
	s.pause(true)
	for _, c := range s.connections() {
		c.hold()
	}
}

// Resume ends a pause.
func (s *Server) Resume() {
	s.pause(false)
	for _, c := range s.connections() {
		c.unhold()
	}
}

func (s *Server) pause(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused = on
}

// connections returns the connections that are open.
func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := make([]*conn, 0, len(s.open))
	for c := range s.open {
		open = append(open, c)
	}
	return open
}

// missing returns the ports that are on no connection.
func (s *Server) missing() []*station.Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []*station.Port
	for _, p := range s.ports {
		if s.holder[p] == nil {
			missing = append(missing, p)
		}
	}
	return missing
}

// ask requests the link status of the peers of ports: those on the connection answer.
func (c *conn) ask(ports ...*station.Port) {
	var wire []byte
	for _, p := range ports {
		header := link.Header{Control: link.RequestLinkStatus.With(link.DIR), Destination: p.Remote(), Source: p.Local()}
		if more, err := link.AppendFrame(wire, header, nil); err == nil {
			wire = more
		}
	}
	c.mu.Lock()
	if !c.closed {
		c.send(wire)
	}
	c.mu.Unlock()
	c.drive()
}
