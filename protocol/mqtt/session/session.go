package session

import (
	"iter"
	"slices"
	"strings"
	"time"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/topic"
)

// Session is what a server keeps for a client from one connection to the next (§4.1). It comes
// from a [Table].
type Session struct {
	id     string
	config *Config
	conn   *Conn // nil while the client is away

	subscriptions entries
	queue         queue
	incoming      []incoming
	received      map[uint16]received
	sequence      uint64 // of the last message in incoming
	will          *will

	// Changed says what changed of what AppendState writes since the server set it to 0.
	Changed Change

	expiry  uint32 // in seconds
	ends    int64  // when the session ends while the client is away, Unix nanoseconds; 0 for never
	dropped uint64

	due   int64 // when the table has something to do, Unix nanoseconds
	place int   // in the table's list of what is due, from 1 on; 0 for none
}

// Change says what became of the state of a session.
type Change byte

// The changes.
const (
	// Lesser changes may be lost: messages were confirmed, which are sent again then.
	Lesser Change = 1 << iota
	// Queueing changes must be kept before the publisher is answered: messages with QoS 1 are on their way to the client.
	Queueing
	// Vital changes must be kept before what Receive, Deliver and Commit appended is sent: subscriptions, the will and
	// where messages with QoS 2 are.
	Vital
)

// entry is one subscription.
type entry struct {
	filter       string
	subscription Subscription
}

// ID returns the client identifier.
func (s *Session) ID() string { return s.id }

// Conn returns the connection, nil while the client is away.
func (s *Session) Conn() *Conn { return s.conn }

// Expiry returns how many seconds the session is kept without a connection, 0xFFFFFFFF for ever.
func (s *Session) Expiry() uint32 { return s.expiry }

// Dropped returns how many messages with QoS 1 or 2 were given up because they expired or were too
// large for the client.
func (s *Session) Dropped() uint64 { return s.dropped }

// Subscriptions yields the filters of the session.
func (s *Session) Subscriptions() iter.Seq2[topic.Filter, Subscription] {
	return func(yield func(topic.Filter, Subscription) bool) {
		for _, e := range s.subscriptions {
			f, err := topic.Parse(e.filter, 0)
			if err == nil && !yield(f, e.subscription) {
				return
			}
		}
	}
}

// Unsettled reports whether messages of the client with QoS 2 have neither been kept nor refused yet: who has the session must still
// learn of it, so that they are not taken for new ones when the client sends them again.
func Unsettled(s *Session) bool {
	for _, r := range s.received {
		if !r.committed {
			return true
		}
	}
	return false
}

// attach begins a connection.
func (s *Session) attach(c *Conn, expiry uint32, w *will) {
	s.conn, s.expiry, s.ends, s.will = c, expiry, 0, w // [MQTT-3.1.3-9]
	s.Changed |= Vital
}

// detach ends a connection.
func (s *Session) detach(now time.Time) {
	if s.conn.left {
		s.will = nil
	}
	s.Changed |= Vital
	s.conn.session = nil
	s.conn = nil
	s.incoming = nil // the client asks again for what has no answer; received keeps QoS 2
	s.queue.rewind()
	s.ends = 0
	if s.expiry != forever {
		s.ends = now.Add(time.Duration(s.expiry) * time.Second).UnixNano()
	}
	if s.will != nil {
		s.will.due = now.Add(time.Duration(s.will.delay) * time.Second).UnixNano()
	}
}

// deadline returns when something is due while the client is away, 0 for never.
func (s *Session) deadline() int64 {
	if s.conn != nil {
		return 0
	}
	d := s.ends
	if s.will != nil && (d == 0 || s.will.due < d) {
		d = s.will.due
	}
	return d
}

// subscribe notes a subscription and reports whether it is new.
func (s *Session) subscribe(filter string, sub Subscription) bool {
	s.Changed |= Vital
	return s.subscriptions.put(filter, sub)
}

// unsubscribe takes a subscription away and reports whether it was there.
func (s *Session) unsubscribe(filter string) bool {
	gone := s.subscriptions.remove(filter)
	if gone {
		s.Changed |= Vital
	}
	return gone
}

// entries are subscriptions in the order of their filters.
type entries []entry

// put adds a subscription or replaces it, and reports whether it is new.
func (l *entries) put(filter string, sub Subscription) bool {
	i, found := l.search(filter)
	if found {
		(*l)[i].subscription = sub
		return false
	}
	*l = slices.Insert(*l, i, entry{filter, sub})
	return true
}

func (l *entries) remove(filter string) bool {
	i, found := l.search(filter)
	if found {
		*l = slices.Delete(*l, i, i+1)
	}
	return found
}

func (l *entries) search(filter string) (int, bool) {
	return slices.BinarySearchFunc(*l, filter, func(e entry, f string) int { return strings.Compare(e.filter, f) })
}

// will is the will of a connection.
type will struct {
	message *Message
	expires uint32 // message expiry in seconds from the time it is published, 0 for none
	delay   uint32 // in seconds
	due     int64  // Unix nanoseconds, once the connection is gone
}

func newWill(now time.Time, w *packet.Will, sender string) *will {
	if w == nil {
		return nil
	}
	expires, _ := w.Properties.Uint(packet.MessageExpiry)
	m := newMessage(string(w.Topic), w.Payload, w.Properties, message{w.QoS, w.Retain, sender, now})
	m.Expires = time.Time{}
	return &will{message: m, expires: expires, delay: w.Properties.UintOr(packet.WillDelay, 0)}
}

// publish returns the message of the will as it is at the time.
func (w *will) publish(now time.Time) *Message {
	if w.expires > 0 {
		w.message.Expires = now.Add(time.Duration(w.expires) * time.Second)
	}
	return w.message
}
