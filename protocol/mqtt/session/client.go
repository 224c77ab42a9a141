package session

import (
	"errors"
	"slices"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// ErrWindow says that as many messages are unanswered as the server allows, or that the client is
// not connected.
var ErrWindow = errors.New("no more messages may be sent before the server answers some")

// Events hears what a server says. Its methods are called during [Client.Receive]; what they get is
// valid during the call. A nil function ignores its event.
type Events struct {
	// Connected gets the answer to the CONNECT, which may be a refusal.
	Connected func(ack *packet.Connack)
	// Message gets a message. It is answered when the function returns; with QoS 2 it is handed
	// over once.
	Message func(p *packet.Publish)
	// Answered says that the server has, or has refused, a message with QoS 1 or 2.
	Answered func(id uint16, code packet.Code)
	// Subscribed gets the answer to a SUBSCRIBE or UNSUBSCRIBE.
	Subscribed func(ack *packet.Suback)
	// Ponged says that the server has answered a PINGREQ.
	Ponged func()
}

// Client is the client's end of a session: it numbers, answers and repeats messages. It sets no
// topic aliases and allows none. It is used by one goroutine at a time.
type Client struct {
	connect  packet.Connect
	events   Events
	stream   packet.Stream
	online   bool
	quota    int
	last     uint16
	flight   []flight
	received map[uint16]bool

	keepAlive time.Duration
	spoke     time.Time
	pinged    time.Time // the zero time if no PINGRESP is due
}

// flight is a message that the server has not confirmed.
type flight struct {
	id       uint16
	wire     []byte // of the PUBLISH, nil once it is released
	released bool
}

// NewClient returns a client that connects with a CONNECT, which must not change.
func NewClient(connect packet.Connect, events Events) *Client {
	return &Client{connect: connect, events: events, received: make(map[uint16]bool)}
}

// Start begins a network connection: it appends the CONNECT. What an earlier connection left
// unanswered is sent again if the server still has the session.
func (c *Client) Start(now time.Time, out []byte) ([]byte, error) {
	c.online, c.stream, c.spoke, c.pinged = false, packet.Stream{}, now, time.Time{}
	c.keepAlive = time.Duration(c.connect.KeepAlive) * time.Second
	return c.connect.Append(out)
}

// Online reports whether the server has accepted the connection.
func (c *Client) Online() bool { return c.online }

// Unanswered returns how many messages with QoS 1 or 2 the server has not confirmed.
func (c *Client) Unanswered() int { return len(c.flight) }

// Publish appends a PUBLISH and returns its packet identifier, 0 with QoS 0.
func (c *Client) Publish(now time.Time, p packet.Publish, out []byte) ([]byte, uint16, error) {
	if !c.online || p.QoS > 0 && len(c.flight) >= c.quota {
		return out, 0, ErrWindow
	}
	p.Dup, p.ID = false, 0
	if p.QoS > 0 {
		p.ID = c.number()
	}
	before := len(out)
	out, err := p.Append(out, c.connect.Version)
	if err != nil {
		return out, 0, err
	}
	c.spoke = now
	if p.QoS > 0 {
		c.flight = append(c.flight, flight{id: p.ID, wire: slices.Clone(out[before:])})
	}
	return out, p.ID, nil
}

func (c *Client) find(id uint16) int {
	return slices.IndexFunc(c.flight, func(f flight) bool { return f.id == id })
}

// number returns a packet identifier that no message uses. Those of subscriptions come from the
// same row; they are answered long before it has gone round.
func (c *Client) number() uint16 {
	for {
		if c.last++; c.last != 0 && c.find(c.last) < 0 {
			return c.last
		}
	}
}

// Subscribe appends a SUBSCRIBE and returns its packet identifier.
func (c *Client) Subscribe(now time.Time, s packet.Subscribe, out []byte) ([]byte, uint16, error) {
	s.ID, c.spoke = c.number(), now
	out, err := s.Append(out, c.connect.Version)
	return out, s.ID, err
}

// Unsubscribe appends an UNSUBSCRIBE and returns its packet identifier.
func (c *Client) Unsubscribe(now time.Time, u packet.Unsubscribe, out []byte) ([]byte, uint16, error) {
	u.ID, c.spoke = c.number(), now
	out, err := u.Append(out, c.connect.Version)
	return out, u.ID, err
}

// Disconnect appends a DISCONNECT; the caller closes the connection after sending it.
func (c *Client) Disconnect(code packet.Code, out []byte) ([]byte, error) {
	c.online = false
	p := packet.Disconnect{Code: code}
	return p.Append(out, c.connect.Version)
}

// Deadline returns when Tick has to be called, the zero time for never.
func (c *Client) Deadline() time.Time {
	if c.keepAlive == 0 || !c.online {
		return time.Time{}
	}
	if !c.pinged.IsZero() {
		return c.pinged.Add(c.keepAlive)
	}
	return c.spoke.Add(c.keepAlive)
}

// Tick sends a PINGREQ if it is time, and returns an error if the last one was not answered
// [MQTT-3.1.2-20].
func (c *Client) Tick(now time.Time, out []byte) ([]byte, error) {
	d := c.Deadline()
	switch {
	case d.IsZero() || now.Before(d):
		return out, nil
	case !c.pinged.IsZero():
		return out, errors.New("server did not answer a PINGREQ")
	}
	c.spoke, c.pinged = now, now
	return packet.AppendPing(out, packet.PINGREQ), nil
}

// Receive handles what arrived and appends what is to be sent. After an error the connection is to
// be closed; it is an [*packet.Error] with the reason code if the server sent a DISCONNECT.
func (c *Client) Receive(now time.Time, data, out []byte) ([]byte, error) {
	err := c.stream.Feed(data, func(f packet.Frame) error {
		before := len(out)
		var err error
		out, err = c.handle(f, out)
		if len(out) > before {
			c.spoke = now
		}
		return err
	})
	if err != nil {
		c.online = false
	}
	return out, err
}

func (c *Client) handle(f packet.Frame, out []byte) ([]byte, error) {
	d := packet.Decoder{Version: c.connect.Version}
	switch f.Type {
	case packet.CONNACK:
		return c.connected(&d, f, out)
	case packet.PUBLISH:
		return c.message(&d, f, out)
	case packet.PUBACK, packet.PUBREC, packet.PUBREL, packet.PUBCOMP:
		return c.acknowledged(&d, f, out)
	case packet.SUBACK, packet.UNSUBACK:
		ack, err := d.Suback(f)
		if err == nil && c.events.Subscribed != nil {
			c.events.Subscribed(&ack)
		}
		return out, err
	case packet.PINGRESP:
		c.pinged = time.Time{}
		err := d.Ping(f)
		if err == nil && c.events.Ponged != nil {
			c.events.Ponged()
		}
		return out, err
	case packet.DISCONNECT:
		p, err := d.Disconnect(f)
		if err != nil {
			return out, err
		}
		return out, &packet.Error{Code: p.Code, Clause: "§3.14", Text: "server ended the connection: " + string(p.Properties.Bytes(packet.ReasonString))}
	default:
		return out, refusal("§2.1.2", "a server sends no %s", f.Type)
	}
}

func (c *Client) connected(d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	ack, err := d.Connack(f)
	if err != nil {
		return out, err
	}
	c.online = ack.Code == packet.Success
	c.quota = int(ack.Properties.UintOr(packet.ReceiveMaximum, 65_535))
	if s, ok := ack.Properties.Uint(packet.ServerKeepAlive); ok {
		c.keepAlive = time.Duration(s) * time.Second // [MQTT-3.1.2-21]
	}
	if c.online && !ack.SessionPresent {
		clear(c.received)
	}
	if c.online {
		out, err = c.repeat(ack.SessionPresent, out)
	}
	if c.events.Connected != nil {
		c.events.Connected(&ack)
	}
	return out, err
}

// repeat sends again what is unanswered [MQTT-4.4.0-1]. A server without the session has forgotten
// what was released; the rest is sent as new, which may hand it over twice.
func (c *Client) repeat(present bool, out []byte) ([]byte, error) {
	if !present {
		c.flight = slices.DeleteFunc(c.flight, func(f flight) bool { return f.released })
	}
	var err error
	for _, f := range c.flight {
		if f.released {
			rel := packet.Ack{Type: packet.PUBREL, ID: f.id}
			if out, err = rel.Append(out, c.connect.Version); err != nil {
				return out, err
			}
			continue
		}
		at := len(out)
		out = append(out, f.wire...)
		if present {
			out[at] |= 0x08 // DUP [MQTT-3.3.1-1]
		}
	}
	return out, nil
}

func (c *Client) message(d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Publish(f)
	if err != nil {
		return out, err
	}
	if p.QoS < 2 || !c.received[p.ID] {
		if c.events.Message != nil {
			c.events.Message(&p)
		}
	}
	ack := packet.Ack{Type: packet.PUBACK, ID: p.ID}
	switch p.QoS {
	case 0:
		return out, nil
	case 2:
		c.received[p.ID] = true
		ack.Type = packet.PUBREC
	}
	return ack.Append(out, c.connect.Version)
}

func (c *Client) acknowledged(d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	a, err := d.Ack(f)
	if err != nil {
		return out, err
	}
	if a.Type == packet.PUBREL {
		delete(c.received, a.ID)
		done := packet.Ack{Type: packet.PUBCOMP, ID: a.ID}
		return done.Append(out, c.connect.Version)
	}
	i := c.find(a.ID)
	if a.Type == packet.PUBREC && !a.Code.Failed() {
		if i >= 0 {
			c.flight[i].wire, c.flight[i].released = nil, true
		}
		rel := packet.Ack{Type: packet.PUBREL, ID: a.ID}
		return rel.Append(out, c.connect.Version)
	}
	if i >= 0 {
		c.flight = slices.Delete(c.flight, i, i+1)
		if c.events.Answered != nil {
			c.events.Answered(a.ID, a.Code)
		}
	}
	return out, nil
}
