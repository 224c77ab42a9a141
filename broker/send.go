package broker

import (
	"slices"
	"time"

	"voltbus/protocol/mqtt/session"
)

// Sender publishes messages of the node itself. It is safe for concurrent use.
type Sender struct{ b *Broker }

// NewSender returns who publishes by a broker.
func NewSender(b *Broker) Sender { return Sender{b} }

// Send publishes a message and returns how many clients it is for.
func (s Sender) Send(m *session.Message) int {
	s.b.mu.Lock()
	defer s.b.unlock()
	n, _ := s.b.router.route(m, "")
	return n
}

// Command publishes a message if a client that is connected subscribes to its topic, and reports whether one does. A session
// that is away gets none that comes too late for what it says.
func (s Sender) Command(topic string, payload []byte, within time.Duration) bool {
	s.b.mu.Lock()
	defer s.b.unlock()
	if !s.b.router.reaches(topic) {
		return false
	}
	s.b.router.route(&session.Message{Topic: topic, Payload: payload, QoS: 1, Expires: s.b.cfg.Now().Add(within)}, "")
	return true
}

// reaches reports whether a client that is connected subscribes to a topic.
func (b router) reaches(topic string) bool {
	if c := b.cfg.Cluster; c != nil {
		if p := c.Choose(topic, nil, false); p.Any() {
			return true
		}
	}
	b.tree.Match([]byte(topic), &b.matches)
	there := func(m member) bool { return m.Subscriber.Conn() != nil }
	for _, set := range b.matches.Sets {
		if slices.ContainsFunc(set, there) {
			return true
		}
	}
	for _, g := range b.matches.Groups {
		if _, ok := g.Pick(there); ok {
			return true
		}
	}
	return false
}
