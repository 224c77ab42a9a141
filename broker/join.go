package broker

import (
	"context"
	"log/slog"
	"time"

	"voltbus/broker/cluster"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
	"voltbus/protocol/mqtt/topic"
)

// joined is what a broker has to tell those of other replicas, and what it knows of them; nothing at a node alone. The broker's
// lock guards it.
type joined struct {
	applied uint64                      // up to which place in the journal the sessions have their messages
	touched map[string]struct{}         // filters that have other members
	outbox  []cluster.Message           // for subscribers elsewhere
	moved   []cluster.Session           // sessions that go elsewhere
	mark    bool                        // the journal is to say how far the sessions are
	flying  map[string]*session.Message // retained messages on their way to the journal
	giving  map[string]string           // keys of sessions that go elsewhere once what their clients sent is kept, and where
	missing map[*session.Session]uint64 // sessions that do not have their messages behind a place in the journal yet
	late    *tree                       // their subscriptions
	groups  []cluster.Group
}

func (j *joined) waits() bool { return len(j.touched)+len(j.outbox)+len(j.moved) > 0 || j.mark }

// touch notes that a filter has other members. The client at the link gets no answer before the others know.
func (b keeping) touch(f topic.Filter, l *link) {
	if b.cfg.Cluster == nil {
		return
	}
	j := &b.joined
	if j.touched == nil {
		j.touched = map[string]struct{}{}
	}
	j.touched[f.String()] = struct{}{}
	if l != nil {
		b.hold(l)
	}
	b.keeper.poke(j)
}

// touchShared notes that a client came or went that is a member of shared subscriptions.
func (b keeping) touchShared(s *session.Session) {
	if b.cfg.Cluster == nil {
		return
	}
	for f := range s.Subscriptions() {
		if f.Share != "" {
			b.touch(f, nil)
		}
	}
}

// membersOf returns who subscribes to a filter: of one that is not shared only whether there is somebody.
func (b keeping) membersOf(filter string) (m cluster.Members) {
	f, err := topic.Parse(filter, 0)
	if err != nil {
		return m
	}
	for one := range b.tree.Members(f) {
		m.Count++
		if one.Subscriber.Conn() != nil {
			m.Connected++
		}
	}
	if f.Share == "" && m.Count > 0 {
		return cluster.Members{Count: 1, Connected: 1}
	}
	return m
}

// plan says where else a message goes that was matched.
func (b router) plan(m *session.Message) (p cluster.Plan) {
	if b.cfg.Cluster == nil {
		return p
	}
	b.joined.groups = b.joined.groups[:0]
	for _, g := range b.matches.Groups {
		one := cluster.Group{Share: g.Name(), Filter: g.Filter()}
		for to := range g.Members() {
			one.Count++
			if to.Subscriber.Conn() != nil {
				one.Connected++
			}
		}
		b.joined.groups = append(b.joined.groups, one)
	}
	return b.cfg.Cluster.Choose(m.Topic, b.joined.groups, m.QoS > 0)
}

// send hands a message to other replicas, and reports whether the journal must have it before its publisher is answered.
func (b router) send(m *session.Message, p *cluster.Plan) bool {
	one := cluster.Message{Message: m, All: p.All || len(p.Replicas) > 0, Groups: p.Groups}
	if m.QoS == 0 {
		b.cfg.Cluster.SendLive(&one, p)
		return false
	}
	b.joined.outbox = append(b.joined.outbox, one)
	b.keeper.poke(&b.joined)
	return true
}

// arrived hands a message of another replica to subscribers here.
func (b router) arrived(m *cluster.Message) {
	b.tree.Match([]byte(m.Topic), &b.matches)
	if m.All {
		b.spread(m.Message, b.matches.Sets)
	}
	for _, t := range m.Groups {
		if t.Replica == b.cfg.Cluster.Self() {
			b.chosen(m.Message, t, b.matches.Groups)
		}
	}
}

// chosen hands a message to a member of a shared subscription, or to another replica if there is none any more.
func (b router) chosen(m *session.Message, t cluster.Target, groups []*group) {
	for _, g := range groups {
		if g.Name() != t.Share || g.Filter() != t.Filter {
			continue
		}
		if to, ok := pick(g); ok {
			b.deliver(b.cfg.Now(), to.Subscriber, session.Delivery{Message: m, Subscription: to.Value})
			return
		}
	}
	if again, ok := b.cfg.Cluster.ChooseAgain(t); ok {
		b.send(m, &cluster.Plan{Groups: []cluster.Target{again}})
	}
}

// join makes the entry of the journal for a turn.
func (b keeping) join(t *turnOf) {
	j := &b.joined
	e := &t.entry
	e.Applied, e.Messages, e.Sessions, e.Mark = j.applied, j.outbox, j.moved, j.mark
	for key, state := range t.changes.Sessions {
		e.Sessions = append(e.Sessions, cluster.Session{Key: key, State: state})
	}
	for name, m := range t.retained {
		one := cluster.Retained{Topic: name, Message: m}
		if m != nil {
			one.Device = ownerOf(m.Sender)
		}
		e.Retained = append(e.Retained, one)
	}
	t.filters = make(map[string]cluster.Members, len(j.touched))
	for f := range j.touched {
		t.filters[f] = b.keeping.membersOf(f)
	}
	j.outbox, j.moved, j.mark, j.touched, j.flying = nil, nil, false, nil, t.retained
}

// host is the broker as the other replicas see it.
type host struct{ b *Broker }

// Live implements cluster.Host.
func (h host) Live(m *cluster.Message) {
	h.b.mu.Lock()
	defer h.b.unlock()
	h.b.router.arrived(m)
}

// Apply implements cluster.Host.
func (h host) Apply(a *cluster.Applied) {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	for _, key := range a.Lost {
		b.keeping.lose(key)
	}
	for i := range a.Entry.Messages {
		if !a.Own {
			b.router.arrived(&a.Entry.Messages[i])
		}
	}
	for _, r := range a.Entry.Retained {
		_, newer := b.keeper.retained[r.Topic]
		_, flying := b.joined.flying[r.Topic]
		switch {
		case newer || flying && !a.Own: // what this broker has is later in the journal
		case r.Message == nil:
			b.retained.Drop(r.Topic)
		default:
			b.retained.Put(r.Message, r.Device)
			if !a.Own && b.cfg.Kept != nil {
				b.cfg.Kept(r.Topic, r.Message.Payload)
			}
		}
	}
	b.joined.applied = a.Sequence
}

// release takes a session out that goes on elsewhere. Its connection ends.
func (b keeping) release(s *session.Session) {
	c := s.Conn()
	if l := linkOf(c); l != nil {
		b.counts.TakenOver++
		b.disconnect(l, packet.SessionTakenOver)
	}
	b.table.Release(s.ID()) // first, so that its will is sent where it goes on
	if c != nil {
		b.table.Close(b.cfg.Now(), c)
	}
	for f := range s.Subscriptions() {
		b.tree.Remove(f, s)
		b.touch(f, nil)
	}
	delete(b.keeper.dirty, s.ID())
	delete(b.keeper.known, s.ID())
	t := b.tenants.Of(ownerOf(s.ID()))
	t.Sessions--
	b.tenants.Release(t)
}

// lose ends a session here that another replica owns.
func (b keeping) lose(key string) {
	if s := b.table.Get(key); s != nil {
		b.release(s)
	}
}

// Give implements cluster.Host.
func (h host) Give(key, to string) bool {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	s := b.table.Get(key)
	if s == nil {
		return false
	}
	if l := linkOf(s.Conn()); l != nil {
		b.counts.TakenOver++
		b.disconnect(l, packet.SessionTakenOver)
		b.table.Close(b.cfg.Now(), l.conn)
	}
	if _, missing := b.joined.missing[s]; missing || b.table.Get(key) != s {
		return false
	}
	if !session.Unsettled(s) {
		b.keeping.give(s, to)
		return true
	}
	if b.joined.giving == nil {
		b.joined.giving = map[string]string{}
	}
	b.joined.giving[key] = to
	return true
}

// give has the journal say that a session goes elsewhere.
func (b keeping) give(s *session.Session, to string) {
	key := s.ID()
	delete(b.joined.giving, key)
	if s.Conn() != nil || b.table.Get(key) != s { // its client came back
		return
	}
	state := s.AppendState(nil)
	b.release(s)
	b.cfg.Cluster.Inherit(to, state)
	b.joined.moved = append(b.joined.moved, cluster.Session{Key: key, To: to, After: b.joined.applied, State: state})
	b.keeper.poke(&b.joined)
}

// Adopt implements cluster.Host.
func (h host) Adopt(list []cluster.Adopted) {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	now := b.cfg.Now()
	b.joined.missing, b.joined.late = map[*session.Session]uint64{}, topic.NewTree[*session.Session, session.Subscription]()
	for _, a := range list {
		s := b.table.Get(a.Key)
		if a.State != nil {
			if s != nil { // one that was not kept
				b.keeping.release(s)
			}
			var err error
			if s, err = b.keeping.restore(now, a.Key, a.State); err != nil {
				b.cfg.Log.Error("the state of a session that another replica had cannot be read", slog.String("session", shownKey(a.Key)), slog.Any("err", err))
			}
		}
		if s == nil {
			continue
		}
		b.joined.missing[s] = a.After
		for f, sub := range s.Subscriptions() {
			b.joined.late.Add(f, s, sub)
			b.keeping.touch(f, nil)
		}
		s.Changed |= session.Vital
		b.keeping.changed(s)
	}
}

// Reroute implements cluster.Host.
func (h host) Reroute(sequence uint64, e *cluster.Entry, from string) {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	var found matches
	for i := range e.Messages {
		m := &e.Messages[i]
		b.joined.late.Match([]byte(m.Topic), &found)
		if m.All {
			for s, d := range b.router.merge(m.Message, found.Sets) {
				if sequence > b.joined.missing[s] {
					b.router.deliver(b.cfg.Now(), s, d)
				}
			}
		}
		for _, t := range m.Groups {
			if t.Replica == from {
				b.router.chosen(m.Message, t, found.Groups)
			}
		}
	}
}

// Done implements cluster.Host.
func (h host) Done(sequence uint64) {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	b.joined.missing, b.joined.late = nil, nil
	b.joined.applied = max(b.joined.applied, sequence-1)
	b.keeper.poke(&b.joined)
}

// Filters implements cluster.Host.
func (h host) Filters() map[string]cluster.Members {
	b := h.b
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string]cluster.Members{}
	for key := range b.table.Keys() {
		for f := range b.table.Get(key).Subscriptions() {
			all[f.String()] = b.keeping.membersOf(f.String())
		}
	}
	return all
}

// Mark implements cluster.Host.
func (h host) Mark() {
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	h.b.joined.mark = true
	h.b.keeper.poke(&h.b.joined)
}

// Taken implements cluster.Host.
func (h host) Taken(key string) bool {
	b := h.b
	b.mu.Lock()
	defer b.unlock()
	s := b.table.Get(key)
	if s == nil {
		return false
	}
	if _, known := b.keeper.known[key]; known || s.Expiry() > 0 { // who owns it stands in the journal, or will
		return true
	}
	if l := linkOf(s.Conn()); l != nil {
		b.counts.TakenOver++
		b.disconnect(l, packet.SessionTakenOver)
		b.table.Close(b.cfg.Now(), l.conn)
	}
	return false
}

// Join lets other replicas reach the broker. Call it after Load and before Run; it does nothing at a node alone.
func (b *Broker) Join(ctx context.Context) error {
	if b.cfg.Cluster == nil {
		return nil
	}
	return b.cfg.Cluster.Begin(ctx, host{b})
}

// fetch has a session move here whose client waits for its answer.
func (b server) fetch(ctx context.Context, l *link) (until <-chan struct{}, pause time.Duration) {
	err := b.cfg.Cluster.Move(ctx, l.moving.Key)
	return l.handle(func(now time.Time, out []byte) ([]byte, error) {
		a := *l.moving
		l.moving = nil
		if err != nil {
			b.counts.Refused++
			a = session.Answer{Code: packet.ServerUnavailable}
		}
		return l.conn.Resume(now, a, out)
	})
}
