package session

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/mqtt/packet"
)

// ErrClosed says that the client or the server ended the connection as MQTT intends.
var ErrClosed = errors.New("connection is closed")

// state is how far a connection is.
type state byte

const (
	waiting        state = iota // for the CONNECT
	authenticating              // CONNECT arrived, the broker asks on
	deferred                    // CONNECT arrived, the broker answers later
	connected
	closed
)

// Conn is the server's end of a network connection. Make it with [NewConn].
type Conn struct {
	// Tag is the server's own, such as what it sends with.
	Tag any

	config  *Config
	broker  Broker
	session *Session // nil before the CONNECT was accepted
	stream  packet.Stream

	heard   int64 // when something arrived last, Unix nanoseconds
	version packet.Version
	state   state
	left    bool // the client said goodbye: no will
	method  bool // the client authenticates by AUTH

	keepAlive  uint16 // in seconds
	quota      uint16 // how many messages the client takes unanswered
	aliases    uint16 // how many aliases the client takes
	maxPacket  uint32 // how large packets the client takes, 0 for any
	lastTopic  string // saves the copy of a name that comes again
	fromClient []string
	toClient   map[string]uint16
	connect    *opening // while authenticating, or deferred
}

// opening is a CONNECT that waits for its authentication or its session, in wire form.
type opening struct {
	wire  []byte
	early []byte // packets that came behind it while it waits for its session
}

// NewConn returns a connection that waits for its CONNECT. config must not change.
func NewConn(now time.Time, config *Config, broker Broker) *Conn {
	return &Conn{
		config: config, broker: broker, heard: now.UnixNano(),
		stream: packet.Stream{Limit: config.maxPacket()},
	}
}

// Session returns the session, nil before the CONNECT was accepted and after [Table.Close].
func (c *Conn) Session() *Session { return c.session }

// Version returns what the client speaks, 0 before its CONNECT.
func (c *Conn) Version() packet.Version { return c.version }

// Deadline returns when Tick has to be called, the zero time for never. It moves with everything
// that arrives: look again when it has come.
func (c *Conn) Deadline() time.Time {
	heard := time.Unix(0, c.heard)
	switch {
	case c.state == waiting || c.state == authenticating || c.state == deferred:
		return heard.Add(or(c.config.ConnectTimeout, 10*time.Second))
	case c.state == closed || c.keepAlive == 0:
		return time.Time{}
	}
	return heard.Add(time.Duration(c.keepAlive) * 1500 * time.Millisecond) // [MQTT-3.1.2-22]
}

// Tick ends a connection whose client is silent. Like Receive it appends what is to be sent and
// returns why the connection is to be closed then, nil to go on.
func (c *Conn) Tick(now time.Time, out []byte) ([]byte, error) {
	d := c.Deadline()
	if d.IsZero() || now.Before(d) {
		return out, nil
	}
	if c.state != connected {
		c.state = closed
		return out, errors.New("client sent no CONNECT in time")
	}
	err := &packet.Error{Code: packet.KeepAliveTimeout, Clause: "MQTT-3.1.2-22", Text: fmt.Sprintf("client was silent for 1.5 times its keep-alive of %d s", c.keepAlive)}
	return c.fail(err, out), err
}

// Busy reports whether the client has so many messages that are not committed that the server should read no more before it has
// committed some. Those with QoS 2 that are committed and not released do not count: their PUBREL must be read. A client of MQTT 5.0
// keeps to the limit by itself.
func (c *Conn) Busy() bool {
	return c.session != nil && len(c.session.incoming) >= int(or(c.config.ReceiveMaximum, 100))
}

// Receive handles what arrived. It appends to out what is to be sent and returns why the
// connection is to be closed once that is sent, nil to go on. data is not kept.
func (c *Conn) Receive(now time.Time, data, out []byte) ([]byte, error) {
	if c.state == closed {
		return out, ErrClosed
	}
	if c.state == connected {
		c.heard = now.UnixNano()
	}
	err := c.stream.Feed(data, func(f packet.Frame) error {
		var err error
		out, err = c.handle(now, f, out)
		return err
	})
	if err != nil {
		out = c.fail(err, out)
	}
	return out, err
}

// fail says goodbye with the reason code of an error, if the client understands one.
func (c *Conn) fail(err error, out []byte) []byte {
	e := (*packet.Error)(nil)
	if !errors.As(err, &e) || c.state == closed {
		c.state = closed
		return out
	}
	if c.state == connected {
		return c.Disconnect(e.Code, e.Text, out)
	}
	if c.version == packet.V5 || c.version == packet.V311 && e.Code != packet.MalformedPacket && e.Code != packet.ProtocolError {
		out = c.refuse(e.Code, e.Text, nil, out)
	}
	c.state = closed
	return out
}

// Disconnect ends the connection from the server's side: it appends a DISCONNECT for a client that
// understands it. The caller closes the socket after sending.
func (c *Conn) Disconnect(code packet.Code, why string, out []byte) []byte {
	return disconnect(c, code, packet.ReasonString, why, out)
}

// Elsewhere is the answer to a client that is told to use another server (§4.11), and which; "" if that is not known.
func Elsewhere(server string) Answer {
	a := Answer{Code: packet.UseAnotherServer}
	if server != "" {
		a.Properties = packet.Properties(nil).WithText(packet.ServerReference, server)
	}
	return a
}

// Refer ends a connection as Disconnect does, and tells the client which server to use (§4.11); "" for none.
func Refer(c *Conn, code packet.Code, server string, out []byte) []byte {
	return disconnect(c, code, packet.ServerReference, server, out)
}

func disconnect(c *Conn, code packet.Code, more packet.Property, text string, out []byte) []byte {
	if c.state == connected && c.version == packet.V5 { // [MQTT-3.14.0-1]
		p := packet.Disconnect{Code: code}
		if text != "" {
			p.Properties = packet.Properties(nil).WithText(more, text)
		}
		out = c.append(out, func(b []byte) ([]byte, error) { return p.Append(b, c.version) }, func() { p.Properties = nil })
	}
	c.state = closed
	return out
}

// append appends a packet, without what may be left out if it is too large for the client, and not
// at all if it is too large even so [MQTT-3.1.2-24].
func (c *Conn) append(out []byte, write func([]byte) ([]byte, error), shorten func()) []byte {
	before := len(out)
	for range 2 {
		longer, err := write(out)
		if err == nil && (c.maxPacket == 0 || len(longer)-before <= int(c.maxPacket)) {
			return longer
		}
		out = longer[:before]
		shorten()
	}
	return out
}

// handle handles one packet.
func (c *Conn) handle(now time.Time, f packet.Frame, out []byte) ([]byte, error) {
	d := packet.Decoder{Version: c.version, Limits: c.config.limits()}
	switch {
	case c.state == closed:
		return out, ErrClosed
	case c.state == deferred:
		return out, c.connect.keepEarly(f, c.config.maxPacket())
	case c.state == waiting && f.Type == packet.CONNECT:
		return c.receiveConnect(now, &d, f, out)
	case c.state == waiting:
		return out, refusal("MQTT-3.1.0-1", "first packet is a %s, not a CONNECT", f.Type)
	case f.Type == packet.CONNECT:
		return out, refusal("MQTT-3.1.0-2", "client sent a second CONNECT")
	case f.Type == packet.AUTH:
		return c.receiveAuth(now, &d, f, out)
	case f.Type == packet.DISCONNECT:
		return out, c.receiveDisconnect(&d, f)
	case c.state == authenticating:
		return out, refusal("MQTT-3.1.2-30", "client sent a %s before it was authenticated", f.Type)
	}
	switch f.Type {
	case packet.PUBLISH:
		return c.receivePublish(now, &d, f, out)
	case packet.PUBACK, packet.PUBREC, packet.PUBREL, packet.PUBCOMP:
		return c.receiveAck(now, &d, f, out)
	case packet.SUBSCRIBE:
		return c.receiveSubscribe(&d, f, out)
	case packet.UNSUBSCRIBE:
		return c.receiveUnsubscribe(&d, f, out)
	case packet.PINGREQ:
		if err := d.Ping(f); err != nil {
			return out, err
		}
		return packet.AppendPing(out, packet.PINGRESP), nil // [MQTT-3.12.4-1]
	default:
		return out, refusal("§2.1.2", "a client sends no %s", f.Type)
	}
}

// refusal is a protocol error.
func refusal(clause, format string, args ...any) error {
	return &packet.Error{Code: packet.ProtocolError, Clause: clause, Text: fmt.Sprintf(format, args...)}
}

func (c *Conn) receiveDisconnect(d *packet.Decoder, f packet.Frame) error {
	p, err := d.Disconnect(f)
	if err != nil {
		return err
	}
	if expiry, ok := p.Properties.Uint(packet.SessionExpiry); ok && c.session != nil {
		if c.session.expiry == 0 && expiry != 0 {
			return refusal("§3.14.2.2.2", "DISCONNECT wants a session kept that was to end with the connection")
		}
		c.session.expiry = c.config.limitExpiry(expiry)
	}
	c.left = p.Code == packet.Success // [MQTT-3.1.2-10], [MQTT-3.14.4-3]
	c.state = closed
	return ErrClosed
}
