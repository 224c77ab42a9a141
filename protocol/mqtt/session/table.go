package session

import (
	"container/heap"
	"iter"
	"maps"
	"time"
)

// Watcher hears what becomes of sessions. Its methods are called during those of a [Table].
type Watcher interface {
	// Ended says that a session is over: its subscriptions are to be removed.
	Ended(s *Session)
	// Will hands over the will of a client that was lost.
	Will(s *Session, m *Message)
}

// Table holds the sessions of a server by client identifier. Make it with [NewTable].
type Table struct {
	config   *Config
	watcher  Watcher
	sessions map[string]*Session
	due      deadlines
}

// NewTable returns a table without sessions. config must not change.
func NewTable(config *Config, watcher Watcher) *Table {
	return &Table{config: config, watcher: watcher, sessions: make(map[string]*Session)}
}

// Len returns how many sessions there are.
func (t *Table) Len() int { return len(t.sessions) }

// Keys yields the client identifiers of all sessions. Sessions may be removed meanwhile.
func (t *Table) Keys() iter.Seq[string] { return maps.Keys(t.sessions) }

// Get returns the session of a client identifier, nil for none.
func (t *Table) Get(clientID string) *Session { return t.sessions[clientID] }

// Open returns the session for a CONNECT: the one there is, or a new one, which a clean start
// always gets [MQTT-3.1.2-4]. If the session has a connection, that is taken from it and returned:
// the caller ends it with Disconnect and [packet.SessionTakenOver] [MQTT-3.1.4-3].
func (t *Table) Open(now time.Time, clientID string, clean bool) (s *Session, present bool, old *Conn) {
	s = t.sessions[clientID]
	if s != nil && s.conn != nil {
		old = s.conn
		t.Close(now, old)
		s = t.sessions[clientID]
	}
	if s != nil && (clean || s.ends != 0 && s.ends <= now.UnixNano()) {
		t.end(now, s)
		s = nil
	}
	if s != nil {
		t.schedule(s, 0)
		return s, true, old
	}
	s = &Session{id: clientID, config: t.config}
	t.sessions[clientID] = s
	return s, false, old
}

// Close says that a network connection is gone. Its session goes on without it, or ends.
func (t *Table) Close(now time.Time, c *Conn) {
	s := c.session
	if s == nil {
		return
	}
	s.detach(now)
	t.attend(now, s)
}

// attend does what is due for a session whose client is away, and notes what is due next.
func (t *Table) attend(now time.Time, s *Session) {
	at := now.UnixNano()
	if s.conn != nil || t.sessions[s.id] != s {
		return
	}
	if s.ends != 0 && s.ends <= at {
		t.end(now, s)
		return
	}
	if s.will != nil && s.will.due <= at {
		t.publish(now, s)
	}
	t.schedule(s, s.deadline())
}

func (t *Table) publish(now time.Time, s *Session) {
	w := s.will
	s.will = nil // [MQTT-3.1.2-10]
	t.watcher.Will(s, w.publish(now))
}

// end ends a session whose client is away; its will is due with it [MQTT-3.1.2-8].
func (t *Table) end(now time.Time, s *Session) {
	if s.will != nil {
		t.publish(now, s)
	}
	delete(t.sessions, s.id)
	t.schedule(s, 0)
	t.watcher.Ended(s)
}

// Remove ends a session whatever its expiry and returns the connection that it had, nil for none.
func (t *Table) Remove(now time.Time, clientID string) *Conn {
	s := t.sessions[clientID]
	if s == nil {
		return nil
	}
	c := s.conn
	if c != nil {
		s.detach(now)
	}
	t.end(now, s)
	return c
}

// Release takes a session out whose client is away and goes on elsewhere, with what is due.
func (t *Table) Release(clientID string) {
	if s := t.sessions[clientID]; s != nil {
		delete(t.sessions, clientID)
		t.schedule(s, 0)
	}
}

// Deadline returns when Tick has to be called, the zero time for never.
func (t *Table) Deadline() time.Time {
	if len(t.due) == 0 {
		return time.Time{}
	}
	return time.Unix(0, t.due[0].due)
}

// Tick publishes wills and ends sessions that are due.
func (t *Table) Tick(now time.Time) {
	for len(t.due) > 0 && t.due[0].due <= now.UnixNano() {
		t.attend(now, heap.Pop(&t.due).(*Session))
	}
}

// schedule notes when something is due for a session, 0 for nothing.
func (t *Table) schedule(s *Session, at int64) {
	switch listed := s.place > 0; {
	case at == 0 && listed:
		heap.Remove(&t.due, s.place-1)
	case at == 0:
	case listed:
		s.due = at
		heap.Fix(&t.due, s.place-1)
	default:
		s.due = at
		heap.Push(&t.due, s)
	}
}

// deadlines is a heap of sessions; the one that is due first is first.
type deadlines []*Session

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].due < d[j].due }

// Swap implements heap.Interface.
func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i+1, j+1
}

// Push implements heap.Interface.
func (d *deadlines) Push(x any) {
	s := x.(*Session)
	*d = append(*d, s)
	s.place = len(*d)
}

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	s := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	s.place = 0
	return s
}
