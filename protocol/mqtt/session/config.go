package session

import (
	"time"

	"voltbus/protocol/mqtt/packet"
	"voltbus/protocol/mqtt/topic"
)

// Config says what a server grants to its clients. What is 0 is a default that bounds the memory a
// client can take.
type Config struct {
	// Limits bound what is in a packet. Levels is 128 if it is 0, because each level of a topic takes
	// a node of a tree, and Filters 1,000.
	Limits packet.Limits
	// MaxPacket is the size of the largest packet from a client, 0 for 1 MiB.
	MaxPacket int
	// ReceiveMaximum is how many messages with QoS 1 or 2 of a client may be unanswered, 0 for 100.
	ReceiveMaximum uint16
	// TopicAliases is how many aliases a client may set, and how many are set towards a client, 0 for
	// none.
	TopicAliases uint16
	// KeepAlive is the longest keep-alive in seconds, 0 for any. A longer one, or none, is replaced.
	KeepAlive uint16
	// MaxExpiry is the longest session expiry in seconds, 0 for any.
	MaxExpiry uint32
	// MaxInflight is how many messages with QoS 1 or 2 are sent to a client without an answer, 0
	// for 100; a client may ask for fewer.
	MaxInflight uint16
	// MaxQueued is how many messages wait for a client beyond those in flight, 0 for 1,000. What
	// comes then is refused.
	MaxQueued int
	// MaxQueuedOctets is how many octets the messages may have that wait or are in flight, 0 for any. One message
	// may have more.
	MaxQueuedOctets int
	// MaxUnsent is from how many unsent bytes on nothing more is appended for a client, 0 for
	// 64 KiB: QoS 0 is refused, the rest waits.
	MaxUnsent int
	// MaxSubscriptions is how many subscriptions a session has, 0 for 1,000.
	MaxSubscriptions int
	// ConnectTimeout is how long a client may take until its CONNECT, 0 for 10 s.
	ConnectTimeout time.Duration
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// limits returns the limits of packets with their defaults.
func (c *Config) limits() packet.Limits {
	l := c.Limits
	l.Levels, l.Filters = or(l.Levels, 128), or(l.Filters, 1000)
	return l
}

// maxPacket returns the size of the largest packet.
func (c *Config) maxPacket() int { return or(c.MaxPacket, 1<<20) }

// forever is the session expiry that never comes (§3.1.2.11.2).
const forever = 0xFFFF_FFFF

// Pending is what [Broker.Publish] returns for a message that [Session.Commit] will answer, and the code of what [Broker.Connect]
// returns for a client that [Conn.Resume] will answer.
const Pending packet.Code = 0xFF

// Answer is what a broker says to a CONNECT or AUTH.
type Answer struct {
	// Code is Success to go on, ContinueAuthentication to ask for another AUTH, or why not.
	Code packet.Code
	// ClientID replaces that of the CONNECT if it is not empty. It must not be empty for a client
	// that has none.
	ClientID string
	// Key names the session in place of the client identifier if it is not empty, so that the clients of different
	// users may have the same one.
	Key string
	// Properties are sent in the CONNACK, or AUTH, beside those that the session sets itself.
	Properties packet.Properties
}

// Broker is what the sessions of a server have in common. Its methods are called during
// [Conn.Receive] and must not call the Conn or its Session. A message is delivered to other sessions
// at once, to that of the publisher itself once Receive has returned.
type Broker interface {
	// Connect says whether a client may connect. The CONNECT is valid during the call.
	Connect(c *Conn, p *packet.Connect) Answer
	// Auth goes on with an authentication that Connect began, or begins another (§4.12). The
	// AUTH is valid during the call.
	Auth(c *Conn, p *packet.Auth) Answer
	// Open returns the session to go on with, see [Table.Open].
	Open(c *Conn, clientID string, clean bool) (s *Session, present bool)
	// Publish is handed a message of a client and returns what to answer, or Pending. With QoS 0
	// nothing is answered. The publication is valid during the call.
	Publish(c *Conn, p *Publication) packet.Code
	// Subscribe makes a subscription, or replaces it, and returns a granted QoS or why not.
	Subscribe(c *Conn, f topic.Filter, s Subscription) packet.Code
	// Retained asks for the retained messages of a subscription; they are appended to out by
	// [Session.Deliver].
	Retained(c *Conn, f topic.Filter, s Subscription, out []byte) []byte
	// Unsubscribe ends a subscription.
	Unsubscribe(c *Conn, f topic.Filter)
}

// Subscription is what a client subscribed with.
type Subscription struct {
	Options packet.Options
	// Identifier is the subscription identifier, 0 for none.
	Identifier uint32
}

// QoS returns what to deliver a message with.
func (s Subscription) QoS(of *Message) packet.QoS { return min(s.Options.QoS(), of.QoS) }
