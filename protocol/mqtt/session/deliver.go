package session

import (
	"iter"
	"slices"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// Outcome is what became of a delivery.
type Outcome byte

// The outcomes.
const (
	Sent    Outcome = iota // appended to what is to be sent
	Queued                 // kept until the client is there and has room
	Ignored                // not meant for the client: no local, or QoS 0 while it is away
	Refused                // lost: it has expired, or the client takes no packets so large
	Full                   // lost: the queue is full, or the client does not read, and neither would the next one fit
)

// Delivery is a message for a session with what the matching subscriptions say.
type Delivery struct {
	Message *Message
	Subscription
	// More are the subscription identifiers of further subscriptions that match [MQTT-3.3.4-4].
	More []uint32
	// Retained says that the message is a retained one, sent for a new subscription.
	Retained bool
}

// Merge adds another subscription of the same client that matches the message, so that it is
// delivered once with the highest QoS [MQTT-3.3.4-2].
func (d *Delivery) Merge(other Subscription) {
	q := max(d.Options.QoS(), other.Options.QoS())
	// No local holds only if all say so: the other one asks for the message.
	local := d.Options & other.Options & packet.NoLocal
	d.Options = (d.Options|other.Options)&^packet.NoLocal | local
	d.Options = d.Options.WithQoS(q)
	switch {
	case other.Identifier == 0:
	case d.Identifier == 0:
		d.Identifier = other.Identifier
	default:
		d.More = append(slices.Clip(d.More), other.Identifier)
	}
}

// Deliver sends a message to the client of the session or keeps it until that is possible. What is
// to be sent is appended to out, where what has not been sent before may still be.
func (s *Session) Deliver(now time.Time, d Delivery, out []byte) ([]byte, Outcome) {
	if d.Options&packet.NoLocal != 0 && d.Message.Sender == s.id { // [MQTT-3.8.3-3]
		return out, Ignored
	}
	o := outgoing{
		message: d.Message, first: d.Identifier, more: d.More, qos: d.QoS(d.Message),
		retain: d.Retained || d.Message.Retain && d.Options&packet.RetainAsPublished != 0, // [MQTT-3.3.1-12]
	}
	if o.qos == 0 {
		return s.deliverOnce(now, &o, out)
	}
	if s.queue.waiting() >= or(s.config.MaxQueued, 1000) || !s.queue.fits(d.Message, s.config.MaxQueuedOctets) {
		s.dropped++
		return out, Full
	}
	s.queue.push(o)
	s.Changed |= Queueing
	if o.qos == 2 {
		s.Changed |= Vital
	}
	out = s.Flush(now, out)
	if s.queue.waiting() > 0 {
		return out, Queued
	}
	return out, Sent
}

// deliverOnce sends a message with QoS 0.
func (s *Session) deliverOnce(now time.Time, o *outgoing, out []byte) ([]byte, Outcome) {
	if s.conn == nil || s.conn.state != connected {
		return out, Ignored
	}
	if s.config.full(out) {
		return out, Full
	}
	longer, ok := s.conn.send(now, o, false, out)
	if !ok {
		return out, Refused
	}
	return longer, Sent
}

// full reports whether nothing more is to be appended.
func (c *Config) full(out []byte) bool { return len(out) >= or(c.MaxUnsent, 64<<10) }

// Flush sends messages that wait as far as the client takes them [MQTT-3.3.4-9]. The server calls it when it has sent what was unsent.
func (s *Session) Flush(now time.Time, out []byte) []byte {
	q := &s.queue
	for s.conn != nil && s.conn.state == connected && q.waiting() > 0 && q.sent < int(s.conn.quota) && !s.config.full(out) {
		o := q.next()
		if o.released { // [MQTT-4.4.0-1]
			rel := packet.Ack{Type: packet.PUBREL, ID: o.id}
			out, _ = rel.Append(out, s.conn.version) // so small a packet always fits
			q.sent++
			continue
		}
		again := o.id != 0
		if !again {
			o.id = q.number()
		}
		longer, ok := s.conn.send(now, o, again, out)
		if !ok {
			s.dropped++
			q.remove(q.sent)
			continue
		}
		out = longer
		q.sent++
	}
	return out
}

// send appends a PUBLISH. It returns false for a message that has expired, unless it was sent
// before, or is too large for the client [MQTT-3.1.2-25].
func (c *Conn) send(now time.Time, o *outgoing, again bool, out []byte) ([]byte, bool) {
	m := o.message
	left, expired := m.expired(now)
	if expired && !again { // [MQTT-3.3.2-5]
		return out, false
	}
	p := packet.Publish{Dup: again, QoS: o.qos, Retain: o.retain, ID: o.id, Payload: m.Payload}
	var space [256]byte
	if c.version == packet.V5 {
		p.Properties = o.properties(left, space[:0])
	}
	size := p.Size(c.version) + len(m.Topic) + 7 // at most, with an alias and a longer length
	if c.maxPacket > 0 && size > int(c.maxPacket) {
		p.Topic = []byte(m.Topic)
		if p.Size(c.version) > int(c.maxPacket) {
			return out, false
		}
		return c.write(out, &p, "")
	}
	if c.aliases > 0 {
		if alias, ok := c.toClient[m.Topic]; ok {
			p.Properties = p.Properties.WithUint(packet.TopicAlias, uint32(alias))
			return c.write(out, &p, "")
		}
		if len(c.toClient) < int(c.aliases) {
			if c.toClient == nil {
				c.toClient = make(map[string]uint16)
			}
			alias := uint16(len(c.toClient) + 1)
			c.toClient[m.Topic] = alias
			p.Properties = p.Properties.WithUint(packet.TopicAlias, uint32(alias))
		}
	}
	return c.write(out, &p, m.Topic)
}

// write appends a PUBLISH, and reports whether it can be written.
func (c *Conn) write(out []byte, p *packet.Publish, name string) ([]byte, bool) {
	if name != "" {
		p.Topic = []byte(name)
	}
	longer, err := p.Append(out, c.version)
	return longer, err == nil
}

// properties returns the properties of a PUBLISH, in space if they fit.
func (o *outgoing) properties(left uint32, space packet.Properties) packet.Properties {
	space = append(space, o.message.Properties...)
	if left > 0 {
		space = space.WithUint(packet.MessageExpiry, left) // [MQTT-3.3.2-6]
	}
	if o.first > 0 {
		space = space.WithUint(packet.SubscriptionIdentifier, o.first)
	}
	for _, id := range o.more {
		space = space.WithUint(packet.SubscriptionIdentifier, id)
	}
	return space
}

// acknowledged handles a PUBACK, PUBREC or PUBCOMP.
func (s *Session) acknowledged(now time.Time, a packet.Ack, out []byte) ([]byte, error) {
	i := s.queue.find(a.ID)
	if i < 0 {
		return s.unknown(a, out)
	}
	o := &s.queue.flight()[i]
	s.Changed |= Lesser
	switch {
	case a.Type == packet.PUBACK && o.qos == 1:
		s.queue.remove(i)
	case a.Type == packet.PUBREC && o.qos == 2 && a.Code.Failed(): // [MQTT-4.4.0-2]
		s.queue.remove(i)
	case a.Type == packet.PUBREC && o.qos == 2:
		s.queue.octets -= o.message.octets()
		o.message, o.more, o.released = nil, nil, true
		s.Changed |= Vital
		rel := packet.Ack{Type: packet.PUBREL, ID: a.ID}
		return rel.Append(out, s.conn.version) // [MQTT-4.3.3-4]
	case a.Type == packet.PUBCOMP && o.qos == 2 && o.released:
		s.queue.remove(i)
	default:
		return out, refusal("§4.3", "a %s does not answer message %d", a.Type, a.ID)
	}
	return s.Flush(now, out), nil
}

// unknown handles an answer to nothing, such as one that was sent twice.
func (s *Session) unknown(a packet.Ack, out []byte) ([]byte, error) {
	if a.Type != packet.PUBREC || a.Code.Failed() {
		return out, nil
	}
	rel := packet.Ack{Type: packet.PUBREL, ID: a.ID, Code: packet.PacketIdentifierNotFound}
	return rel.Append(out, s.conn.version)
}

// Unfinished yields the messages that the client has not confirmed, oldest first. A server may
// hand those of shared subscriptions to others when a session ends (§4.8.2).
func (s *Session) Unfinished() iter.Seq[*Message] {
	return func(yield func(*Message) bool) {
		for _, o := range s.queue.list[s.queue.head:] {
			if o.message != nil && !yield(o.message) {
				return
			}
		}
	}
}
