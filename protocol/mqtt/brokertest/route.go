package brokertest

import (
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Publish implements session.Broker.
func (b *Broker) Publish(c *session.Conn, p *session.Publication) packet.Code {
	m := p.Message()
	if p.QoS > 0 && b.hooks.Hold != nil && b.hooks.Hold(p) {
		b.held = append(b.held, held{c.Session(), p.Sequence, m})
		return session.Pending
	}
	if b.route(m) == 0 && p.QoS > 0 {
		return packet.NoMatchingSubscribers
	}
	return packet.Success
}

// route hands a message to whoever subscribed and returns how many there are.
func (b *Broker) route(m *session.Message) int {
	if m.Retain {
		b.retain(m)
	}
	b.tree.Match([]byte(m.Topic), &b.matches)
	n := 0
	if sets := b.matches.Sets; len(sets) == 1 {
		for _, member := range sets[0] {
			b.deliver(member.Subscriber, session.Delivery{Message: m, Subscription: member.Value})
		}
		n = len(sets[0])
	} else if len(sets) > 1 {
		n = b.routeOnce(m, sets)
	}
	for _, g := range b.matches.Groups {
		if member, ok := b.pick(g); ok {
			b.deliver(member.Subscriber, session.Delivery{Message: m, Subscription: member.Value})
			n++
		}
	}
	return n
}

// routeOnce delivers a message once to each subscriber, even if several of its filters match.
func (b *Broker) routeOnce(m *session.Message, sets [][]topic.Member[*session.Session, session.Subscription]) int {
	clear(b.once)
	for _, set := range sets {
		for _, member := range set {
			d, ok := b.once[member.Subscriber]
			if ok {
				d.Merge(member.Value)
			} else {
				d = session.Delivery{Message: m, Subscription: member.Value}
			}
			b.once[member.Subscriber] = d
		}
	}
	for s, d := range b.once {
		b.deliver(s, d)
	}
	return len(b.once)
}

// pick chooses a member of a shared subscription, one that is there if possible.
func (b *Broker) pick(g *topic.Group[*session.Session, session.Subscription]) (topic.Member[*session.Session, session.Subscription], bool) {
	online := func(m topic.Member[*session.Session, session.Subscription]) bool { return m.Subscriber.Conn() != nil }
	if m, ok := g.Pick(online); ok {
		return m, true
	}
	return g.Pick(nil)
}

func (b *Broker) deliver(s *session.Session, d session.Delivery) {
	l := linkOf(s.Conn())
	switch {
	case s == b.active:
		b.self = append(b.self, d)
	case l == nil:
		_, _ = s.Deliver(b.now(), d, nil)
	default:
		l.out, _ = s.Deliver(b.now(), d, l.out)
		b.announce(l)
	}
}

// retain keeps a message, or forgets the one of its topic if it is empty [MQTT-3.3.1-6].
func (b *Broker) retain(m *session.Message) {
	if len(m.Payload) == 0 {
		b.retained.Delete(m.Topic)
		return
	}
	b.retained.Set(m.Topic, m)
}

// Subscribe implements session.Broker.
func (b *Broker) Subscribe(c *session.Conn, f topic.Filter, s session.Subscription) packet.Code {
	if b.hooks.Subscribe != nil {
		if code := b.hooks.Subscribe(f); code.Failed() {
			return code
		}
	}
	b.tree.Add(f, c.Session(), s)
	return packet.Code(s.Options.QoS())
}

// Retained implements session.Broker.
func (b *Broker) Retained(c *session.Conn, f topic.Filter, s session.Subscription, out []byte) []byte {
	b.retained.Match(f.Topic, func(_ string, m *session.Message) bool {
		out, _ = c.Session().Deliver(b.now(), session.Delivery{Message: m, Subscription: s, Retained: true}, out)
		return true
	})
	return out
}

// Unsubscribe implements session.Broker.
func (b *Broker) Unsubscribe(c *session.Conn, f topic.Filter) { b.tree.Remove(f, c.Session()) }

// watcher hears about the sessions of a broker.
type watcher struct{ b *Broker }

// Ended implements session.Watcher.
func (w watcher) Ended(s *session.Session) {
	for f := range s.Subscriptions() {
		w.b.tree.Remove(f, s)
	}
}

// Will implements session.Watcher.
func (w watcher) Will(_ *session.Session, m *session.Message) { w.b.route(m) }
