package cluster

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"voltbus/fault"
)

// channelSubject begins the subjects of what replicas tell each other: channelSubject + topic + "." + sender.
const channelSubject = "replica."

// Channel carries small messages among the replicas, best effort: who is not reached misses them. It is safe for concurrent use.
type Channel struct {
	conn *nats.Conn
	self string
}

// NewChannel returns the channel of a replica over a connection to the account that the replicas share.
func NewChannel(conn *nats.Conn, self string) *Channel { return &Channel{conn, self} }

// Tell sends a message about a topic, one word, to all replicas that are reached, this one too.
func (c *Channel) Tell(topic string, data []byte) error {
	if err := c.conn.Publish(channelSubject+topic+"."+c.self, data); err != nil {
		return fault.E("cluster.Tell", fault.Unavailable, topic, fmt.Errorf("tell the other replicas: %w", err))
	}
	return nil
}

// Hear calls hear with each message about a topic and the name of its sender, one at a time, until stop is called.
func (c *Channel) Hear(topic string, hear func(from string, data []byte)) (stop func(), err error) {
	prefix := channelSubject + topic + "."
	sub, err := c.conn.Subscribe(prefix+"*", func(m *nats.Msg) { hear(strings.TrimPrefix(m.Subject, prefix), m.Data) })
	if err != nil {
		return nil, fault.E("cluster.Hear", fault.Unavailable, topic, fmt.Errorf("listen to the other replicas: %w", err))
	}
	return func() { _ = sub.Unsubscribe() }, nil
}
