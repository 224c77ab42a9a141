package session

import (
	"errors"
	"time"

	"voltbus/protocol/mqtt/packet"
)

func (c *Conn) receivePublish(now time.Time, d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Publish(f)
	if err != nil {
		return out, err
	}
	name, err := c.resolve(&p)
	if err != nil {
		return out, err
	}
	if _, ok := p.Properties.Uint(packet.SubscriptionIdentifier); ok {
		return out, refusal("MQTT-3.3.4-6", "PUBLISH of a client has a subscription identifier")
	}
	pub := Publication{Publish: p, Name: name, Repeated: p.Dup, sender: c.session.id, now: now}
	if p.QoS == 0 {
		c.broker.Publish(c, &pub)
		return out, nil
	}
	s := c.session
	limit := 65_535
	if c.version == packet.V5 {
		limit = int(or(c.config.ReceiveMaximum, 100))
	}
	if p.QoS == 2 {
		if known, ok := s.received[p.ID]; ok { // [MQTT-4.3.3-10]
			return s.answerAgain(p.ID, known, out)
		}
	}
	if s.unanswered() >= limit {
		return out, &packet.Error{Code: packet.ReceiveMaximumExceeded, Clause: "MQTT-3.3.4-7", Text: "client has more unanswered messages than it may"}
	}
	pub.Sequence = s.expect(p.ID, p.QoS)
	if code := c.broker.Publish(c, &pub); code != Pending {
		return s.Commit(pub.Sequence, code, out)
	}
	return out, nil
}

// resolve returns the topic name of a PUBLISH and keeps what it says about an alias.
func (c *Conn) resolve(p *packet.Publish) (string, error) {
	alias, ok := p.Properties.Uint(packet.TopicAlias)
	if !ok {
		if c.lastTopic != string(p.Topic) {
			c.lastTopic = string(p.Topic)
		}
		return c.lastTopic, nil
	}
	if alias > uint32(c.config.TopicAliases) {
		return "", &packet.Error{Code: packet.TopicAliasInvalid, Clause: "MQTT-3.3.2-9", Text: "topic alias is larger than the server allows"}
	}
	if len(p.Topic) > 0 {
		for len(c.fromClient) < int(alias) {
			c.fromClient = append(c.fromClient, "")
		}
		if c.fromClient[alias-1] != string(p.Topic) {
			c.fromClient[alias-1] = string(p.Topic)
		}
	}
	if int(alias) > len(c.fromClient) || c.fromClient[alias-1] == "" {
		return "", refusal("§3.3.2.3.4", "topic alias %d has no topic", alias)
	}
	return c.fromClient[alias-1], nil
}

// incoming is a message of the client that waits for its answer.
type incoming struct {
	id   uint16
	qos  packet.QoS
	done bool
	code packet.Code
}

// received is a message with QoS 2 whose PUBREL has not come.
type received struct {
	sequence  uint64
	committed bool
	pledged   bool // what is written now makes it committed
	answer    bool // its PUBLISH came again on another connection: send the PUBREC when committed
}

// unanswered counts the messages of the client that use up its receive maximum.
func (s *Session) unanswered() int {
	n := len(s.received)
	for i := range s.incoming {
		if s.incoming[i].qos == 1 {
			n++
		}
	}
	return n
}

// expect notes a message of the client and returns its sequence.
func (s *Session) expect(id uint16, qos packet.QoS) uint64 {
	s.sequence++
	s.incoming = append(s.incoming, incoming{id: id, qos: qos})
	if qos == 2 {
		if s.received == nil {
			s.received = make(map[uint16]received)
		}
		s.received[id] = received{sequence: s.sequence}
	}
	return s.sequence
}

// errUnkept ends a connection of 3.1.1, whose acknowledgements cannot say that something failed.
var errUnkept = errors.New("a message of the client is not kept, which its version of MQTT cannot be told")

// Commit answers a message with QoS 1 or 2: it is kept, or code says why not. Answers go out in
// the order in which the messages came. A message of an earlier connection may be committed too.
// After an error the connection is to be closed: a client of 3.1.1 sends again what has no answer.
func (s *Session) Commit(sequence uint64, code packet.Code, out []byte) ([]byte, error) {
	first := s.sequence - uint64(len(s.incoming)) + 1
	if sequence > s.sequence {
		return out, nil
	}
	if sequence < first {
		return s.commitEarlier(sequence, code, out)
	}
	in := &s.incoming[sequence-first]
	if in.done {
		return out, nil
	}
	in.done, in.code = true, code
	s.settle(in.id, in.qos, code)
	n := 0
	var err error
	for ; n < len(s.incoming) && s.incoming[n].done && err == nil; n++ {
		out, err = s.answer(s.incoming[n], out)
	}
	s.incoming = s.incoming[n:]
	if len(s.incoming) == 0 {
		s.incoming = nil
	}
	return out, err
}

// settle notes what became of a message with QoS 2.
func (s *Session) settle(id uint16, qos packet.QoS, code packet.Code) {
	r, ok := s.received[id]
	switch {
	case qos != 2 || !ok:
	case code.Failed(): // §4.3.3: the identifier is free
		delete(s.received, id)
	default:
		r.committed = true
		s.received[id] = r
		s.Changed |= Vital
	}
}

// Pledge has AppendState write a message with QoS 2 as committed already, because it is kept together with that state: who reads the
// state has the message, and must not take it for a new one when the client sends it again. Commit says whether that succeeded. It
// reports whether there is such a message, in a session that outlives its connection.
func Pledge(s *Session, sequence uint64) bool {
	mark := func(id uint16, r received) bool {
		r.pledged = true
		s.received[id] = r
		return true
	}
	if first := s.sequence - uint64(len(s.incoming)) + 1; sequence >= first && sequence <= s.sequence {
		in := &s.incoming[sequence-first]
		r, is := s.received[in.id]
		return s.expiry > 0 && in.qos == 2 && is && mark(in.id, r)
	}
	for id, r := range s.received {
		if s.expiry > 0 && r.sequence == sequence {
			return mark(id, r)
		}
	}
	return false
}

// commitEarlier is Commit for a message with QoS 2 of an earlier connection.
func (s *Session) commitEarlier(sequence uint64, code packet.Code, out []byte) ([]byte, error) {
	for id, r := range s.received {
		if r.sequence != sequence || r.committed {
			continue
		}
		s.settle(id, 2, code)
		if r.answer && s.conn != nil {
			return s.answer(incoming{id: id, qos: 2, code: code}, out)
		}
		break
	}
	return out, nil
}

// answerAgain answers a message with QoS 2 that came before.
func (s *Session) answerAgain(id uint16, r received, out []byte) ([]byte, error) {
	if r.committed {
		return s.answer(incoming{id: id, qos: 2}, out)
	}
	if r.sequence <= s.sequence-uint64(len(s.incoming)) {
		r.answer = true
		s.received[id] = r
	}
	return out, nil
}

// answer appends a PUBACK or PUBREC.
func (s *Session) answer(in incoming, out []byte) ([]byte, error) {
	switch {
	case s.conn == nil:
		return out, nil
	case in.code.Failed() && s.conn.version != packet.V5:
		s.conn.state = closed
		return out, errUnkept
	}
	a := packet.Ack{Type: packet.PUBACK, ID: in.id, Code: in.code}
	if in.qos == 2 {
		a.Type = packet.PUBREC
	}
	return a.Append(out, s.conn.version)
}

// receiveAck handles what the client says about messages in either direction.
func (c *Conn) receiveAck(now time.Time, d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	a, err := d.Ack(f)
	if err != nil {
		return out, err
	}
	s := c.session
	if a.Type != packet.PUBREL {
		return s.acknowledged(now, a, out)
	}
	reply := packet.Ack{Type: packet.PUBCOMP, ID: a.ID}
	switch r, ok := s.received[a.ID]; {
	case !ok:
		reply.Code = packet.PacketIdentifierNotFound
	case !r.committed:
		return out, refusal("MQTT-4.3.3-5", "PUBREL for message %d, which has no PUBREC", a.ID)
	}
	delete(s.received, a.ID)
	s.Changed |= Vital
	if len(s.received) == 0 {
		s.received = nil
	}
	return reply.Append(out, c.version)
}
