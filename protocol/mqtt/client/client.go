// Package client is a client of MQTT brokers, in version 3.1.1, which all of them speak. It connects once: whoever uses it
// connects again when it is lost. It keeps no session and queues nothing.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// Config says how to connect.
type Config struct {
	ClientID, User, Password string
	// KeepAlive is the time after which a silent connection is checked; 0 is 30 s.
	KeepAlive time.Duration
	// Will is published by the broker when the connection is lost; nil for none.
	Will *packet.Will
	// Message is called for each message, from the goroutine that reads: it must not wait for an answer of the broker. Topic
	// and payload belong to the buffer that they arrived in.
	Message func(topic string, payload []byte)
	// Ended is called once when the connection has ended, nil for nobody.
	Ended func()
}

// The bounds of a connection.
const (
	maxPacket = 16 << 20
	readSize  = 16 << 10
)

// Conn is a connection. Its methods are safe for concurrent use.
type Conn struct {
	net net.Conn
	cfg Config
	dec packet.Decoder

	write sync.Mutex // of whole packets
	mu    sync.Mutex
	next  uint16
	waits map[uint16]chan error // for acknowledgements by packet identifiers
	pings []chan error
	inbox map[uint16]struct{} // identifiers of messages with QoS 2 that were taken
	err   error               // why it ended
	done  chan struct{}
	parts sync.WaitGroup
}

// ErrLost is wrapped by the errors of a connection that has ended.
var ErrLost = errors.New("the connection to the broker is lost")

// New connects over a network connection, which then belongs to it, and closes it with an error.
func New(ctx context.Context, conn net.Conn, cfg Config) (*Conn, error) {
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 30 * time.Second
	}
	c := &Conn{
		net: conn, cfg: cfg, dec: packet.Decoder{Version: packet.V311}, waits: map[uint16]chan error{}, inbox: map[uint16]struct{}{}, done: make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	rest, err := c.hello()
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), err)
		}
		return nil, err
	}
	c.parts.Go(func() { c.read(rest) })
	c.parts.Go(c.keepAlive)
	return c, nil
}

// hello sends CONNECT and waits for the CONNACK. It returns what arrived behind that.
func (c *Conn) hello() (rest []byte, err error) {
	p := packet.Connect{Version: packet.V311, CleanStart: true, KeepAlive: uint16(c.cfg.KeepAlive / time.Second), ClientID: []byte(c.cfg.ClientID), Will: c.cfg.Will} //nolint:gosec // seconds
	if c.cfg.User != "" {
		p.UserName = []byte(c.cfg.User)
	}
	if c.cfg.Password != "" {
		p.Password = []byte(c.cfg.Password)
	}
	out, err := p.Append(nil)
	if err != nil {
		return nil, err
	}
	if _, err := c.net.Write(out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}
	buffer := make([]byte, 0, 1024)
	for {
		piece := make([]byte, 1024)
		n, err := c.net.Read(piece)
		buffer = append(buffer, piece[:n]...)
		f, size, bad := packet.Split(buffer, maxPacket)
		switch {
		case bad != nil:
			return nil, fmt.Errorf("%w: %w", ErrLost, bad)
		case size > 0:
			ack, err := c.dec.Connack(f)
			if err == nil && ack.Code != packet.Success {
				err = fmt.Errorf("the broker lets the client not in: %v", ack.Code)
			}
			return buffer[size:], err
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// read takes packets until the connection ends.
func (c *Conn) read(rest []byte) {
	stream := packet.Stream{Limit: maxPacket}
	err := stream.Feed(rest, c.take)
	buffer := make([]byte, readSize)
	for err == nil {
		var n int
		n, err = c.net.Read(buffer)
		if n > 0 {
			if bad := stream.Feed(buffer[:n], c.take); bad != nil {
				err = bad
			}
		}
	}
	c.end(err)
	if c.cfg.Ended != nil {
		c.cfg.Ended()
	}
}

// take handles a packet.
func (c *Conn) take(f packet.Frame) error {
	switch f.Type { //nolint:exhaustive // a broker sends no others
	case packet.PUBLISH:
		return c.message(f)
	case packet.PINGRESP:
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.pings) > 0 {
			c.pings[0] <- nil
			c.pings = c.pings[1:]
		}
		return nil
	case packet.SUBACK:
		a, err := c.dec.Suback(f)
		if err != nil {
			return err
		}
		for _, code := range a.Codes {
			if code.Failed() {
				err = fmt.Errorf("the broker refuses the subscription: %v", code)
			}
		}
		c.answered(a.ID, err)
		return nil
	case packet.PUBACK, packet.PUBREC, packet.PUBREL, packet.PUBCOMP:
		return c.acknowledged(f)
	}
	return fmt.Errorf("the broker sent a %v", f.Type)
}

func (c *Conn) acknowledged(f packet.Frame) error {
	a, err := c.dec.Ack(f)
	if err != nil {
		return err
	}
	if f.Type == packet.PUBREC {
		return c.answer(packet.PUBREL, a.ID)
	}
	if f.Type != packet.PUBREL {
		c.answered(a.ID, nil)
		return nil
	}
	c.mu.Lock()
	delete(c.inbox, a.ID)
	c.mu.Unlock()
	return c.answer(packet.PUBCOMP, a.ID)
}

// message hands a message over and answers it.
func (c *Conn) message(f packet.Frame) error {
	p, err := c.dec.Publish(f)
	if err != nil {
		return err
	}
	answer := packet.PUBACK
	if p.QoS == 2 {
		answer = packet.PUBREC
		c.mu.Lock()
		_, again := c.inbox[p.ID]
		c.inbox[p.ID] = struct{}{}
		c.mu.Unlock()
		if again {
			return c.answer(answer, p.ID)
		}
	}
	if c.cfg.Message != nil {
		c.cfg.Message(string(p.Topic), p.Payload)
	}
	if p.QoS == 0 {
		return nil
	}
	return c.answer(answer, p.ID)
}

func (c *Conn) answer(t packet.Type, id uint16) error {
	return c.send(func(b []byte) ([]byte, error) { return (&packet.Ack{Type: t, ID: id}).Append(b, packet.V311) })
}

func (c *Conn) answered(id uint16, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.waits[id]; w != nil {
		delete(c.waits, id)
		w <- err
	}
}

// send writes a packet.
func (c *Conn) send(form func([]byte) ([]byte, error)) error {
	out, err := form(nil)
	if err != nil {
		return err
	}
	c.write.Lock()
	defer c.write.Unlock()
	if _, err := c.net.Write(out); err != nil {
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	return nil
}

// end fails everybody who waits.
func (c *Conn) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = fmt.Errorf("%w: %w", ErrLost, err)
	_ = c.net.Close()
	for id, w := range c.waits {
		delete(c.waits, id)
		w <- c.err
	}
	for _, w := range c.pings {
		w <- c.err
	}
	c.pings = nil
	close(c.done)
}

// keepAlive checks a silent connection. It ends one whose broker does not answer.
func (c *Conn) keepAlive() {
	tick := time.NewTicker(c.cfg.KeepAlive / 2)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.cfg.KeepAlive/2)
		err := c.Ping(ctx)
		cancel()
		if err != nil {
			c.end(err)
			return
		}
	}
}

// Lost is closed when the connection has ended.
func (c *Conn) Lost() <-chan struct{} { return c.done }

// Err says why the connection ended, nil while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Conn) ended() bool { return c.Err() != nil }

// Close ends the connection in order, and waits for its goroutines.
func (c *Conn) Close() error {
	if !c.ended() {
		_ = c.net.SetWriteDeadline(time.Now().Add(time.Second))
		_ = c.send(func(b []byte) ([]byte, error) { return (&packet.Disconnect{}).Append(b, packet.V311) })
		c.end(net.ErrClosed)
	}
	c.parts.Wait()
	return nil
}
