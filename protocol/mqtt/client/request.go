package client

import (
	"context"
	"errors"

	"voltbus/protocol/mqtt/packet"
)

// Message is a message to publish.
type Message struct {
	Topic   string
	Payload []byte
	QoS     packet.QoS
	Retain  bool
}

// Ping waits for a sign of life of the broker, behind everything that it sent before.
func (c *Conn) Ping(ctx context.Context) error {
	w := make(chan error, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return c.err
	}
	c.pings = append(c.pings, w)
	c.mu.Unlock()
	err := c.send(func(b []byte) ([]byte, error) { return packet.AppendPing(b, packet.PINGREQ), nil })
	if err != nil {
		return err
	}
	return c.wait(ctx, w)
}

// Subscribe subscribes to topics with a QoS and waits for the answer.
func (c *Conn) Subscribe(ctx context.Context, qos packet.QoS, filters ...string) error {
	id, w, err := c.request()
	if err != nil {
		return err
	}
	p := packet.Subscribe{ID: id}
	for _, f := range filters {
		p.Subscriptions = append(p.Subscriptions, packet.Subscription{Filter: []byte(f), Options: packet.Options(qos)})
	}
	if err := c.send(func(b []byte) ([]byte, error) { return p.Append(b, packet.V311) }); err != nil {
		return err
	}
	return c.wait(ctx, w)
}

// Begin publishes a message and returns where its acknowledgement comes, so that many are under way. With QoS 0 that comes at
// once.
func (c *Conn) Begin(m *Message) (<-chan error, error) {
	p := packet.Publish{QoS: m.QoS, Retain: m.Retain, Topic: []byte(m.Topic), Payload: m.Payload}
	w := make(chan error, 1)
	if m.QoS == 0 {
		w <- nil
	} else {
		id, waits, err := c.request()
		if err != nil {
			return nil, err
		}
		p.ID, w = id, waits
	}
	return w, c.send(func(b []byte) ([]byte, error) { return p.Append(b, packet.V311) })
}

// Publish publishes a message and waits until the broker has it.
func (c *Conn) Publish(ctx context.Context, m *Message) error {
	w, err := c.Begin(m)
	if err != nil {
		return err
	}
	return c.wait(ctx, w)
}

var errFull = errors.New("too many messages wait for the broker")

// request returns a packet identifier that is free, and where its answer comes.
func (c *Conn) request() (uint16, chan error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	if len(c.waits) >= 1<<15 {
		return 0, nil, errFull
	}
	for {
		c.next++
		if _, used := c.waits[c.next]; !used && c.next != 0 {
			w := make(chan error, 1)
			c.waits[c.next] = w
			return c.next, w, nil
		}
	}
}

func (c *Conn) wait(ctx context.Context, w <-chan error) error {
	select {
	case err := <-w:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
