package channel

import (
	"sync"
	"sync/atomic"

	"voltbus/protocol/dnp3/station"
)

// member is a port on a connection with its alarm.
type member struct {
	conn  *conn
	port  *station.Port
	alarm alarm
	noted bool // guarded by attention.mu
	gone  bool // the port was removed; guarded by conn.mu
}

// schedule sets the alarm to the deadline of the port.
func (m *member) schedule() { m.conn.hub.wheel.set(&m.alarm, m.port.Deadline()) }

// wake is called by the machine to request attention.
func (m *member) wake() {
	m.conn.attention.ask(m)
	if m.conn.hub.handOver && m.conn.stream.polled == nil {
		m.conn.nudge()
		return
	}
	m.conn.drive()
}

// ring is called by the wheel.
func (m *member) ring() {
	m.conn.attention.ask(m)
	m.conn.nudge()
}

// members are the ports on a connection. Most connections have one, which needs no map.
type members struct {
	first  *member                   // nil if there is no port
	others map[*station.Port]*member // but the first
}

// none reports whether there is no port.
func (s *members) none() bool { return s.first == nil }

// of returns the member of a port that is on the connection.
func (s *members) of(p *station.Port) *member {
	if s.first.port == p {
		return s.first
	}
	return s.others[p]
}

func (s *members) add(m *member) {
	if s.first == nil {
		s.first = m
		return
	}
	if s.others == nil {
		s.others = make(map[*station.Port]*member)
	}
	s.others[m.port] = m
}

func (s *members) remove(m *member) {
	delete(s.others, m.port)
	if s.first != m {
		return
	}
	s.first = nil
	for other, next := range s.others {
		s.first = next
		delete(s.others, other)
		break
	}
}

// attention is the list of members for which something is due. Any goroutine may add to it; the holder of conn.mu serves them.
type attention struct {
	pending atomic.Bool // something is due

	mu    sync.Mutex
	asked []*member
}

// ask records that something is due for a member.
func (a *attention) ask(m *member) {
	a.mu.Lock()
	if !m.noted {
		m.noted = true
		a.asked = append(a.asked, m)
	}
	a.mu.Unlock()
	a.pending.Store(true)
}

// take returns a member for which something is due, nil if there is none.
func (a *attention) take() *member {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) == 0 {
		return nil
	}
	m := a.asked[len(a.asked)-1]
	a.asked = a.asked[:len(a.asked)-1]
	m.noted = false
	return m
}
