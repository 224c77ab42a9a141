package session

import (
	"time"

	"voltbus/protocol/mqtt/packet"
)

// Message is an application message. Once it is handed to a session it must not change; any number
// of sessions share it.
type Message struct {
	Topic   string
	Payload []byte
	// Properties are those that are forwarded as they are: payload format, content type, response
	// topic, correlation data and user properties.
	Properties packet.Properties
	QoS        packet.QoS
	Retain     bool
	// Expires is when the message is of no more use, the zero time for never.
	Expires time.Time
	// Sender is the client identifier of the publisher, for subscriptions with no local.
	Sender string
}

// octets are those of the message that take memory; none of no message.
func (m *Message) octets() int {
	if m == nil {
		return 0
	}
	return len(m.Topic) + len(m.Payload) + len(m.Properties)
}

// expired reports whether a message has expired, and otherwise the seconds it has left, 0 for
// a message that does not expire.
func (m *Message) expired(now time.Time) (left uint32, expired bool) {
	if m.Expires.IsZero() {
		return 0, false
	}
	d := m.Expires.Sub(now)
	if d <= 0 {
		return 0, true
	}
	return uint32((d + time.Second - 1) / time.Second), false
}

// Publication is a message as it arrived. Its slices belong to the buffer it arrived in.
type Publication struct {
	packet.Publish
	// Name is the topic name, with a topic alias resolved.
	Name string
	// Sequence names the message to [Session.Commit]. It grows by one with each message with
	// QoS 1 or 2 of a session, 0 with QoS 0.
	Sequence uint64
	// Repeated says that the message with QoS 1 may have been handed over before.
	Repeated bool

	sender string
	now    time.Time
}

// Message returns a copy that is valid after the call.
func (p *Publication) Message() *Message {
	return newMessage(p.Name, p.Payload, p.Properties, message{p.QoS, p.Retain, p.sender, p.now})
}

// message is the rest of what newMessage needs.
type message struct {
	qos    packet.QoS
	retain bool
	sender string
	now    time.Time
}

// newMessage copies payload and properties into one allocation.
func newMessage(name string, payload []byte, p packet.Properties, rest message) *Message {
	m := &Message{Topic: name, QoS: rest.qos, Retain: rest.retain, Sender: rest.sender}
	if len(p) > 0 {
		if left, ok := p.Uint(packet.MessageExpiry); ok {
			m.Expires = rest.now.Add(time.Duration(left) * time.Second)
		}
		p = p.Without(packet.MessageExpiry, packet.TopicAlias, packet.SubscriptionIdentifier, packet.WillDelay)
		m.Properties = p
	}
	m.Payload = append(make([]byte, 0, len(payload)), payload...)
	return m
}
