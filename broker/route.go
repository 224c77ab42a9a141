package broker

import (
	"time"

	"voltbus/broker/shelf"
	"voltbus/broker/unknown"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// Publish implements session.Broker.
func (b handler) Publish(c *session.Conn, p *session.Publication) packet.Code {
	l := linkOf(c)
	t, now := l.tenant, b.cfg.Now()
	b.counts.Received++
	t.Use(now, len(p.Payload))
	if code := b.judge(l, p); code.Failed() {
		return code
	}
	m := p.Message()
	if code, taken := b.take(t.Name, m, false); taken {
		return code
	}
	bound := b.bind(p.Name)
	if bound == nil {
		b.counts.Unknown++
		b.unknown.Note(unknown.Topic{Name: m.Topic, Device: t.Name, Payload: unknown.Clip(m.Payload), Count: 1, At: now})
		return b.routeNow(c.Session(), p.Sequence, m, t.Name)
	}
	w := pending{message: m, binding: bound, at: now, tenant: t.Name}
	if p.QoS > 0 && !bound.match.Live {
		w.session, w.sequence = c.Session(), p.Sequence
		b.work.add(w)
		return session.Pending
	}
	if b.work.full() {
		b.counts.Overflow++
	} else {
		b.work.add(w)
	}
	return b.routeNow(c.Session(), p.Sequence, m, t.Name)
}

// take hands a message to what takes it before anybody else.
func (b handler) take(device string, m *session.Message, will bool) (code packet.Code, taken bool) {
	if b.cfg.Take == nil {
		return packet.Success, false
	}
	return b.cfg.Take(device, m, will)
}

// judge says whether a client may publish a message.
func (b handler) judge(l *link, p *session.Publication) packet.Code {
	t := l.tenant
	if !t.MayPublish(p.Name) {
		b.counts.Unauthorized++
		b.tell(Refusal{
			Device: t.Name, Client: clientOf(l.conn.Session().ID()), Address: l.Peer.String(), Action: "publish", Topic: p.Name,
			Why: "may not publish to this topic",
		})
		return packet.NotAuthorized
	}
	if t.Kind != nil && t.Kind.Payload > 0 && len(p.Payload) > t.Kind.Payload {
		return packet.QuotaExceeded
	}
	if p.Retain && len(p.Payload) > 0 && !b.retained.Room(p.Name, shelf.SizeOf(p.Name, len(p.Payload), len(p.Properties)), t.Name) {
		b.counts.Unretained++
		return packet.QuotaExceeded
	}
	return packet.Success
}

// routeNow routes a message and returns what to answer, Pending if the storage must keep something before.
func (b handler) routeNow(s *session.Session, sequence uint64, m *session.Message, device string) packet.Code {
	n, keep := b.router.route(m, device)
	code := packet.Success
	if n == 0 && m.QoS > 0 {
		code = packet.NoMatchingSubscribers
	}
	if m.QoS == 0 || !keep {
		return code
	}
	b.keeping.answer(reply{s, sequence, code})
	return session.Pending
}

// route hands a message to whoever subscribed and returns how many there are, and whether the storage has to keep
// something before the publisher is answered, which is a device, or "".
func (b router) route(m *session.Message, device string) (n int, keep bool) {
	if m.Retain {
		keep = b.retain(m, device)
	}
	b.tree.Match([]byte(m.Topic), &b.matches)
	plan := b.plan(m)
	n, more := b.spread(m, b.matches.Sets)
	keep = keep || more
	for i, g := range b.matches.Groups {
		if plan.Away != nil && plan.Away[i] {
			continue
		}
		if to, ok := pick(g); ok {
			keep = b.deliver(b.cfg.Now(), to.Subscriber, session.Delivery{Message: m, Subscription: to.Value}) || keep
			n++
		}
	}
	if plan.Any() {
		n += len(plan.Replicas) + len(plan.Groups)
		keep = b.send(m, &plan) || keep
	}
	return n, keep
}

// spread hands a message to all subscribers whose filters match.
func (b router) spread(m *session.Message, sets [][]member) (n int, keep bool) {
	now := b.cfg.Now()
	if len(sets) == 1 {
		for _, to := range sets[0] {
			keep = b.deliver(now, to.Subscriber, session.Delivery{Message: m, Subscription: to.Value}) || keep
		}
		return len(sets[0]), keep
	}
	if len(sets) > 1 {
		for s, d := range b.merge(m, sets) {
			keep = b.deliver(now, s, d) || keep
			n++
		}
	}
	return n, keep
}

// merge finds what to deliver to each subscriber, once even if several of its filters match.
func (b router) merge(m *session.Message, sets [][]member) map[*session.Session]session.Delivery {
	clear(b.once)
	for _, set := range sets {
		for _, to := range set {
			d, ok := b.once[to.Subscriber]
			if ok {
				d.Merge(to.Value)
			} else {
				d = session.Delivery{Message: m, Subscription: to.Value}
			}
			b.once[to.Subscriber] = d
		}
	}
	return b.once
}

// pick chooses a member of a shared subscription, one that is connected if possible.
func pick(g *group) (member, bool) {
	if m, ok := g.Pick(func(m member) bool { return m.Subscriber.Conn() != nil }); ok {
		return m, true
	}
	return g.Pick(nil)
}

// deliver reports whether the storage has to keep something.
func (b router) deliver(now time.Time, s *session.Session, d session.Delivery) bool {
	l := linkOf(s.Conn())
	switch {
	case s == b.active:
		b.self = append(b.self, d)
		return !b.keeper.off && s.Expiry() > 0 && d.QoS(d.Message) > 0
	case l == nil:
		_, _ = b.give(now, s, d, nil)
	default:
		l.out, _ = b.give(now, s, d, l.out)
		b.announce(l)
	}
	return b.keeping.changed(s)
}

// give delivers and counts, and reports whether another one may fit.
func (b router) give(now time.Time, s *session.Session, d session.Delivery, out []byte) (longer []byte, more bool) {
	out, outcome := s.Deliver(now, d, out)
	switch outcome {
	case session.Sent, session.Queued:
		b.counts.Delivered++
	case session.Refused, session.Full:
		b.counts.Dropped++
	case session.Ignored:
	}
	return out, outcome != session.Full
}

// retain keeps a message, or forgets the one of its topic if it is empty [MQTT-3.3.1-6]. It reports whether the
// storage has to keep something.
func (b router) retain(m *session.Message, device string) bool {
	if len(m.Payload) == 0 {
		b.retained.Drop(m.Topic)
		b.keeping.retain(m.Topic, nil)
	} else {
		b.retained.Put(m, device)
		b.keeping.retain(m.Topic, m)
	}
	return !b.keeper.off
}

// Subscribe implements session.Broker.
func (b handler) Subscribe(c *session.Conn, f topic.Filter, s session.Subscription) packet.Code {
	l := linkOf(c)
	if !l.tenant.MaySubscribe(f.Topic) {
		b.counts.Unauthorized++
		b.tell(Refusal{
			Device: l.tenant.Name, Client: clientOf(c.Session().ID()), Address: l.Peer.String(), Action: "subscribe", Topic: f.String(),
			Why: "may not subscribe to all that this filter matches",
		})
		return packet.NotAuthorized
	}
	if l.looks.Spent(b.cfg.Now()) {
		return packet.QuotaExceeded
	}
	b.tree.Add(f, c.Session(), s)
	b.keeping.touch(f, l)
	return packet.Code(s.Options.QoS())
}

// Retained implements session.Broker.
func (b handler) Retained(c *session.Conn, f topic.Filter, s session.Subscription, out []byte) []byte {
	now := b.cfg.Now()
	linkOf(c).looks.Use(now, b.retained.Match(f.Topic, func(m *session.Message) (more bool) {
		out, more = b.router.give(now, c.Session(), session.Delivery{Message: m, Subscription: s, Retained: true}, out)
		return more
	}))
	return out
}

// Unsubscribe implements session.Broker.
func (b handler) Unsubscribe(c *session.Conn, f topic.Filter) {
	b.tree.Remove(f, c.Session())
	b.keeping.touch(f, nil)
}

// watcher hears about the sessions of a broker.
type watcher struct{ b *Broker }

// Ended implements session.Watcher.
func (w watcher) Ended(s *session.Session) {
	b := w.b
	for f := range s.Subscriptions() {
		b.tree.Remove(f, s)
		b.keeping.touch(f, nil)
		if f.Share != "" {
			b.passOn(f, s)
		}
	}
	b.keeping.remove(s)
	t := b.tenants.Of(ownerOf(s.ID()))
	t.Sessions--
	b.tenants.Release(t)
}

// passOn hands what waits for a client whose session ended to another member of its shared subscription
// (MQTT 5.0 §4.8.2).
func (b *Broker) passOn(f topic.Filter, s *session.Session) {
	for m := range s.Unfinished() {
		if !topic.Match(f.Topic, m.Topic) {
			continue
		}
		b.tree.Match([]byte(m.Topic), &b.matches)
		for _, g := range b.matches.Groups {
			if to, ok := pick(g); ok && g.Name() == f.Share {
				b.router.deliver(b.cfg.Now(), to.Subscriber, session.Delivery{Message: m, Subscription: to.Value})
			}
		}
	}
}

// Will implements session.Watcher.
func (w watcher) Will(s *session.Session, m *session.Message) {
	b := w.b
	owner := ownerOf(s.ID())
	if _, taken := b.handler.take(owner, m, true); taken {
		return
	}
	if m.Retain && len(m.Payload) > 0 && !b.retained.Room(m.Topic, shelf.Size(m), owner) {
		b.counts.Unretained++
		once := *m
		once.Retain = false
		m = &once
	}
	b.router.route(m, owner)
	if bound := b.bind(m.Topic); bound != nil && !b.work.full() {
		b.work.add(pending{message: m, binding: bound, at: b.cfg.Now(), tenant: owner})
	}
}
