package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// stateVersion is the first byte of a serialised session.
const stateVersion = 1

var errState = errors.New("state of an MQTT session is cut off or damaged")

// AppendState appends what has to survive a restart of the server: expiry, will, subscriptions,
// messages on the way to the client and the identifiers of messages with QoS 2 that are committed
// and not released. Numbers are varints, texts have their length before them.
func (s *Session) AppendState(b []byte) []byte {
	w := writer{append(b, stateVersion)}
	w.text(s.id)
	w.uint(uint64(s.expiry))
	w.uint(uint64(s.ends))
	w.uint(uint64(s.queue.last))
	w.uint(s.sequence)
	w.flag(s.will != nil)
	if s.will != nil {
		w.message(s.will.message)
		w.uint(uint64(s.will.expires))
		w.uint(uint64(s.will.delay))
		w.uint(uint64(s.will.due))
	}
	w.uint(uint64(len(s.subscriptions)))
	for _, e := range s.subscriptions {
		w.text(e.filter)
		w.uint(uint64(e.subscription.Options))
		w.uint(uint64(e.subscription.Identifier))
	}
	var ids []uint16
	for id, r := range s.received {
		if r.committed || r.pledged {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	w.uint(uint64(len(ids)))
	for _, id := range ids {
		w.uint(uint64(id))
	}
	w.uint(uint64(s.queue.len()))
	for i := range s.queue.list[s.queue.head:] {
		w.outgoing(&s.queue.list[s.queue.head+i])
	}
	return w.b
}

// AppendMessage appends a message, such as a retained one, in the form in which AppendState writes it.
func AppendMessage(b []byte, m *Message) []byte {
	w := writer{append(b, stateVersion)}
	w.message(m)
	return w.b
}

// ParseMessage is the inverse of AppendMessage.
func ParseMessage(b []byte) (*Message, error) {
	r := stateReader{b: b}
	if v := r.byte(); v != stateVersion {
		return nil, fmt.Errorf("an MQTT message has version %d, want %d", v, stateVersion)
	}
	m := r.message()
	if r.bad || len(r.b) > 0 || m.Topic == "" {
		return nil, errState
	}
	return m, nil
}

// Restore adds a session from its state, as one whose client is away since now if it was connected.
func (t *Table) Restore(now time.Time, state []byte) (*Session, error) {
	s, err := t.parse(state)
	if err != nil {
		return nil, err
	}
	if t.sessions[s.id] != nil {
		return nil, fmt.Errorf("session %q is there already", s.id)
	}
	s.resume(now)
	t.sessions[s.id] = s
	t.attend(now, s)
	return s, nil
}

// parse returns the session of a state.
func (t *Table) parse(state []byte) (*Session, error) {
	r := stateReader{b: state}
	if v := r.byte(); v != stateVersion {
		return nil, fmt.Errorf("state of an MQTT session has version %d, want %d", v, stateVersion)
	}
	s := &Session{id: r.text(), config: t.config, expiry: uint32(r.uint())}
	s.ends = int64(r.uint())
	s.queue.last = uint16(r.uint())
	s.sequence = r.uint()
	if r.byte() != 0 {
		s.will = &will{message: r.message(), expires: uint32(r.uint()), delay: uint32(r.uint()), due: int64(r.uint())}
	}
	for range r.count() {
		s.subscribe(r.text(), Subscription{packet.Options(r.uint()), uint32(r.uint())})
	}
	for range r.count() {
		if s.received == nil {
			s.received = make(map[uint16]received)
		}
		s.received[uint16(r.uint())] = received{committed: true}
	}
	for range r.count() {
		s.queue.push(r.outgoing())
	}
	if r.bad || len(r.b) > 0 || s.id == "" {
		return nil, errState
	}
	return s, nil
}

// Filters yields the filters of a state, as the client wrote them; none of one that cannot be read.
func Filters(state []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		s, err := (&Table{}).parse(state)
		if err != nil {
			return
		}
		for _, e := range s.subscriptions {
			if !yield(e.filter) {
				return
			}
		}
	}
}

// resume begins the time that a session is kept for if its client was connected.
func (s *Session) resume(now time.Time) {
	if s.ends == 0 && s.expiry != forever {
		s.ends = now.Add(time.Duration(s.expiry) * time.Second).UnixNano()
	}
	if s.will != nil && s.will.due == 0 {
		s.will.due = now.Add(time.Duration(s.will.delay) * time.Second).UnixNano()
	}
}

// writer appends the parts of a state.
type writer struct{ b []byte }

func (w *writer) uint(v uint64) { w.b = binary.AppendUvarint(w.b, v) }

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) flag(v bool) {
	if v {
		w.b = append(w.b, 1)
	} else {
		w.b = append(w.b, 0)
	}
}

func (w *writer) message(m *Message) {
	w.text(m.Topic)
	w.text(string(m.Payload))
	w.text(string(m.Properties))
	w.uint(uint64(m.QoS))
	w.flag(m.Retain)
	if m.Expires.IsZero() {
		w.uint(0)
	} else {
		w.uint(uint64(m.Expires.UnixNano()))
	}
	w.text(m.Sender)
}

func (w *writer) outgoing(o *outgoing) {
	w.flag(o.message != nil)
	if o.message != nil {
		w.message(o.message)
	}
	w.uint(uint64(o.id))
	w.uint(uint64(o.qos))
	w.flag(o.retain)
	w.flag(o.released)
	w.uint(uint64(o.first))
	w.uint(uint64(len(o.more)))
	for _, id := range o.more {
		w.uint(uint64(id))
	}
}

// stateReader takes the parts of a state. After the first error it returns zeros.
type stateReader struct {
	b   []byte
	bad bool
}

func (r *stateReader) fail() {
	r.b, r.bad = nil, true
}

func (r *stateReader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *stateReader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads how many parts follow, each of which has at least one byte.
func (r *stateReader) count() int {
	n := r.uint()
	if n > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *stateReader) bytes() []byte {
	n := r.count()
	v := slices.Clone(r.b[:n:n])
	r.b = r.b[n:]
	return v
}

func (r *stateReader) text() string { return string(r.bytes()) }

func (r *stateReader) message() *Message {
	m := &Message{Topic: r.text(), Payload: r.bytes(), Properties: r.bytes(), QoS: packet.QoS(r.uint()), Retain: r.byte() != 0}
	if at := r.uint(); at != 0 {
		m.Expires = time.Unix(0, int64(at))
	}
	m.Sender = r.text()
	return m
}

func (r *stateReader) outgoing() outgoing {
	var o outgoing
	if r.byte() != 0 {
		o.message = r.message()
	}
	o.id, o.qos = uint16(r.uint()), packet.QoS(r.uint())
	o.retain, o.released = r.byte() != 0, r.byte() != 0
	o.first = uint32(r.uint())
	for range r.count() {
		o.more = append(o.more, uint32(r.uint()))
	}
	if o.message == nil && !o.released {
		r.fail()
	}
	return o
}
