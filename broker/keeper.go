package broker

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"voltbus/broker/cluster"
	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/session"
)

// keeper gathers what the storage has to keep. Everything that changes while one turn is on its way to the disk goes
// with the next, so that many messages share one write. The broker's lock guards it.
type keeper struct {
	off      bool                        // there is no storage
	dirty    map[string]*session.Session // by key; nil for one that ended
	retained map[string]*session.Message // by topic; nil for one that is gone
	known    map[string]struct{}         // sessions that the storage has
	replies  []reply
	gated    []*link
	turn     uint64 // that was begun last
	kept     uint64 // up to which turns are on disk
	trouble  error  // why the last turn could not be kept
	kick     chan struct{}
}

// reply is an answer to a publisher that waits for the storage.
type reply struct {
	session  *session.Session
	sequence uint64
	code     packet.Code
}

func (k *keeper) init() {
	k.dirty, k.retained, k.known = map[string]*session.Session{}, map[string]*session.Message{}, map[string]struct{}{}
	k.kick = make(chan struct{}, 1)
}

// poke has what changed kept soon.
func (k *keeper) poke(j *joined) {
	if len(k.dirty)+len(k.retained)+len(k.replies)+len(k.gated) == 0 && !j.waits() {
		return
	}
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

func (b keeping) answer(r reply) {
	b.keeper.replies = append(b.keeper.replies, r)
	b.keeper.poke(&b.joined)
}

// retain has the retained message of a topic kept, nil for none any more.
func (b keeping) retain(topic string, m *session.Message) {
	if !b.keeper.off {
		b.keeper.retained[topic] = m
		b.keeper.poke(&b.joined)
	}
}

func (b keeping) remove(s *session.Session) {
	k := &b.keeper
	delete(k.dirty, s.ID())
	if _, known := k.known[s.ID()]; known {
		k.dirty[s.ID()] = nil
		k.poke(&b.joined)
	}
}

// hold has nothing sent to a client before the next turn is kept.
func (b keeping) hold(l *link) {
	k := &b.keeper
	if l.gate <= k.turn {
		k.gated = append(k.gated, l)
	}
	l.gate = k.turn + 1
}

// changed notes what became of a session, and reports whether the storage must keep it before the publisher of what
// was delivered to it is answered.
func (b keeping) changed(s *session.Session) bool {
	c := s.Changed
	s.Changed = 0
	k := &b.keeper
	if c == 0 || k.off || b.table.Get(s.ID()) != s {
		return false
	}
	if _, known := k.known[s.ID()]; s.Expiry() == 0 && !known {
		return false
	}
	k.dirty[s.ID()] = s
	if c&(session.Vital|session.Queueing) == 0 {
		return false
	}
	if l := linkOf(s.Conn()); l != nil && c&session.Vital != 0 {
		b.hold(l)
	}
	k.poke(&b.joined)
	return true
}

// keep writes what changed until ctx ends and nothing is left.
func (b keeping) keep(ctx context.Context) {
	if b.keeper.off {
		<-b.work.done
		return
	}
	for ended := false; !ended; {
		select {
		case <-b.keeper.kick:
		case <-b.work.done:
			ended = true
		}
		b.keepOnce(ctx)
	}
}

// turnOf is what one turn writes, and whom it answers.
type turnOf struct {
	changes  Changes
	sessions map[string]*session.Session
	retained map[string]*session.Message
	replies  []reply
	gated    []*link
	number   uint64

	entry   cluster.Entry // what it writes at a replica
	filters map[string]cluster.Members
}

// begin takes what changed.
func (b keeping) begin() turnOf {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := &b.keeper
	k.turn++
	for _, r := range k.replies { // the turn that keeps a message with QoS 2 keeps its identifier, too
		if s := r.session; !r.code.Failed() && b.table.Get(s.ID()) == s && session.Pledge(s, r.sequence) {
			k.dirty[s.ID()] = s
		}
	}
	t := turnOf{sessions: k.dirty, retained: k.retained, replies: k.replies, gated: k.gated, number: k.turn}
	k.dirty, k.retained, k.replies, k.gated = map[string]*session.Session{}, map[string]*session.Message{}, nil, nil
	t.changes = Changes{Sessions: make(map[string][]byte, len(t.sessions)), Retained: make(map[string][]byte, len(t.retained))}
	var arena []byte
	for key, s := range t.sessions {
		if s == nil {
			t.changes.Sessions[key] = nil
			delete(k.known, key)
			continue
		}
		if _, missing := b.joined.missing[s]; missing {
			k.dirty[key] = s // with a later turn
			continue
		}
		from := len(arena)
		arena = s.AppendState(arena)
		t.changes.Sessions[key] = arena[from:len(arena):len(arena)]
		k.known[key] = struct{}{}
	}
	for topic, m := range t.retained {
		t.changes.Retained[topic] = nil
		if m != nil {
			from := len(arena)
			arena = session.AppendMessage(arena, m)
			t.changes.Retained[topic] = arena[from:len(arena):len(arena)]
		}
	}
	if b.cfg.Cluster != nil {
		b.join(&t)
	}
	return t
}

// write writes a turn.
func (b keeping) write(ctx context.Context, t *turnOf) error {
	if c := b.cfg.Cluster; c != nil {
		var told sync.WaitGroup
		told.Go(func() { c.Announce(ctx, t.filters) })
		defer told.Wait()
		return c.Commit(ctx, &t.entry)
	}
	if len(t.changes.Sessions)+len(t.changes.Retained) == 0 {
		return nil
	}
	return b.cfg.Storage.Save(ctx, &t.changes)
}

// keepOnce writes one turn and answers those who wait for it. If it cannot be written, publishers are refused, and
// everything is tried again with the next turn.
func (b keeping) keepOnce(ctx context.Context) {
	t := b.begin()
	err := b.write(ctx, &t)
	b.mu.Lock()
	defer b.unlock()
	k := &b.keeper
	lost := errors.Is(err, cluster.ErrRefused) // the rest of the turn is kept
	if err != nil && !lost && k.trouble == nil {
		b.cfg.Log.WarnContext(ctx, "MQTT sessions and retained messages cannot be kept and are tried again", slog.Any("err", err))
	}
	k.trouble, k.kept, b.joined.flying = err, t.number, nil
	if lost {
		k.trouble = nil
	} else if err != nil {
		b.keepAgain(&t)
	}
	for _, l := range t.gated {
		if !l.gone {
			b.announce(l)
		}
	}
	for _, r := range t.replies {
		if err != nil {
			r.code = packet.QuotaExceeded
			b.counts.NotRecorded++
		}
		b.commit(r)
	}
}

// keepAgain notes what could not be written, where nothing newer stands.
func (b keeping) keepAgain(t *turnOf) {
	k := &b.keeper
	for key, s := range t.sessions {
		if _, newer := k.dirty[key]; !newer && b.table.Get(key) == s {
			k.dirty[key] = s
		}
	}
	for topic, m := range t.retained {
		if _, newer := k.retained[topic]; !newer {
			k.retained[topic] = m
		}
	}
}

// commit answers a publisher.
func (b keeping) commit(r reply) {
	l := linkOf(r.session.Conn())
	if l == nil {
		_, _ = r.session.Commit(r.sequence, r.code, nil)
		b.changed(r.session)
		if to, is := b.joined.giving[r.session.ID()]; is && !session.Unsettled(r.session) {
			b.give(r.session, to)
		}
		return
	}
	out, err := r.session.Commit(r.sequence, r.code, l.out)
	l.out = out
	b.changed(r.session)
	if err != nil {
		b.close(l)
	}
	b.announce(l)
}

// Trouble says why sessions and retained messages cannot be kept, nil if they can.
func (b *Broker) Trouble() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.cfg.Cluster; c != nil && c.Trouble() != nil {
		return c.Trouble()
	}
	return b.keeper.trouble
}
