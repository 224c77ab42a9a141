package station

import (
	"fmt"
	"time"

	"voltbus/protocol/dnp3/link"
)

// Mux takes frames out of a stream and hands each to the port it is meant for: many
// associations share one line. Not for concurrent use.
type Mux struct {
	// Find, if not nil, is asked for a port when a frame is for none that is known: so
	// a server learns who dialed in. The port is opened when it is returned; nil drops
	// the frame.
	Find func(f link.Frame) *Port
	// Handled, if not nil, is called with the port that handled a frame.
	Handled func(p *Port)

	parser link.Parser
	ports  []*Port
	byPeer map[link.Address]*Port // made when there are several ports
}

// Add puts a port on the line. Two ports must not have the same pair of addresses.
func (m *Mux) Add(p *Port) error {
	for _, other := range m.ports {
		if other.local == p.local && other.remote == p.remote && other.flags.master == p.flags.master {
			return fmt.Errorf("port %v to %v is on the line already: give one of them another address", p.local, p.remote)
		}
	}
	m.ports = append(m.ports, p)
	if len(m.ports) > 1 {
		m.index()
	}
	return nil
}

// Remove takes a port off the line.
func (m *Mux) Remove(p *Port) {
	for i, other := range m.ports {
		if other == p {
			m.ports = append(m.ports[:i:i], m.ports[i+1:]...)
			m.index()
			return
		}
	}
}

// index notes which port speaks to which peer; on a line of a master this finds the
// outstation that a frame came from.
func (m *Mux) index() {
	m.byPeer = make(map[link.Address]*Port, len(m.ports))
	for _, p := range m.ports {
		m.byPeer[p.remote] = p
	}
}

// Ports returns the ports on the line, to be read only.
func (m *Mux) Ports() []*Port { return m.ports }

// Counters returns what the link layer met so far.
func (m *Mux) Counters() link.Counters { return m.parser.Counters() }

// Open opens all ports.
func (m *Mux) Open(now time.Time, out *Output) {
	for _, p := range m.ports {
		p.Open(now, out)
	}
}

// Close closes all ports and forgets half a fragment.
func (m *Mux) Close(now time.Time, pool *Pool) {
	for _, p := range m.ports {
		p.Close(now, pool)
	}
}

// Receive handles what arrived and returns how many octets are done with; the caller
// keeps the rest, which is shorter than a frame, in front of what arrives next.
func (m *Mux) Receive(now time.Time, octets []byte, out *Output) int {
	at := 0
	for {
		frame, n, ok := m.parser.Next(octets[at:], &out.room)
		at += n
		if !ok {
			return at
		}
		m.route(now, frame, out)
	}
}

func (m *Mux) route(now time.Time, f link.Frame, out *Output) {
	if p := m.byPeer[f.Source]; p != nil && !f.Destination.Broadcast() && p.Accepts(f.Header) {
		m.hand(now, p, f, out)
		return
	}
	found := false
	for _, p := range m.ports {
		if !p.Accepts(f.Header) {
			continue
		}
		found = true
		m.hand(now, p, f, out)
		if !f.Destination.Broadcast() {
			return
		}
	}
	if found || m.Find == nil {
		return
	}
	if p := m.Find(f); p != nil {
		p.Open(now, out)
		m.hand(now, p, f, out)
	}
}

func (m *Mux) hand(now time.Time, p *Port, f link.Frame, out *Output) {
	p.receive(now, f, out)
	if m.Handled != nil {
		m.Handled(p)
	}
}

// Deadline returns when Tick has to be called, the zero time for never.
func (m *Mux) Deadline() time.Time {
	var due time.Time
	for _, p := range m.ports {
		due = Earlier(due, p.Deadline())
	}
	return due
}

// Tick lets every port do what has become due.
func (m *Mux) Tick(now time.Time, out *Output) {
	for _, p := range m.ports {
		p.Tick(now, out)
	}
}
