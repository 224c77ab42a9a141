package session

import (
	"encoding/binary"
	"time"

	"voltbus/protocol/mqtt/packet"
)

func (c *Conn) receiveConnect(now time.Time, d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Connect(f)
	c.version = p.Version
	if err != nil {
		if c.version == 0 { // the answer to a version that is not spoken is that of the next one
			c.version = unspoken(f.Body)
		}
		return out, err
	}
	c.maxPacket = p.Properties.UintOr(packet.MaximumPacketSize, 0)
	method := p.Properties.Bytes(packet.AuthenticationMethod)
	c.method = method != nil
	return c.answer(now, &p, c.broker.Connect(c, &p), out)
}

// unspoken returns the version to refuse a CONNECT in.
func unspoken(body []byte) packet.Version {
	if len(body) > 6 && string(body[2:6]) == "MQTT" && body[6] > byte(packet.V311) {
		return packet.V5
	}
	return packet.V311
}

// answer does what the broker says about a CONNECT.
func (c *Conn) answer(now time.Time, p *packet.Connect, a Answer, out []byte) ([]byte, error) {
	switch {
	case a.Code == Pending:
		c.state = deferred
		return out, remember(c, p)
	case a.Code == packet.ContinueAuthentication && c.method:
		if err := remember(c, p); err != nil {
			return out, err
		}
		c.state = authenticating
		auth := packet.Auth{Code: a.Code, Properties: a.Properties}
		return auth.Append(out)
	case a.Code != packet.Success:
		c.state = closed
		return c.refuse(a.Code, "", a.Properties, out), &packet.Error{Code: a.Code, Clause: "MQTT-3.2.2-7", Text: "client was refused"}
	}
	id := a.ClientID
	if id == "" {
		id = string(p.ClientID)
	}
	if id == "" {
		return out, &packet.Error{Code: packet.ClientIdentifierNotValid, Clause: "MQTT-3.1.3-8", Text: "client has no identifier and gets none here"}
	}
	c.connect = nil
	accept(c, p)
	key := or(a.Key, id)
	s, present := c.broker.Open(c, key, p.CleanStart)
	c.session, c.state = s, connected
	c.heard = now.UnixNano()
	s.attach(c, c.config.expiry(c.version, p), newWill(now, p.Will, key))
	ack := packet.Connack{SessionPresent: present, Properties: c.granted(p, id, a.Properties)}
	out, err := ack.Append(out, c.version)
	if err != nil {
		return out, err
	}
	return s.Flush(now, out), nil // [MQTT-4.4.0-1]
}

// remember keeps a CONNECT that is answered later.
func remember(c *Conn, p *packet.Connect) error {
	if c.connect != nil {
		return nil
	}
	wire, err := p.Append(nil)
	c.connect = &opening{wire: wire}
	return err
}

// keepEarly keeps a packet that came before the CONNECT was answered (§3.1.4).
func (o *opening) keepEarly(f packet.Frame, most int) error {
	if len(o.early)+len(f.Body) > most {
		return &packet.Error{Code: packet.QuotaExceeded, Clause: "§3.1.4", Text: "client sent too much before its CONNECT was answered"}
	}
	o.early = append(o.early, byte(f.Type)<<4|f.Flags)
	o.early = binary.AppendUvarint(o.early, uint64(len(f.Body))) // the same as a variable byte integer (§1.5.5)
	o.early = append(o.early, f.Body...)
	return nil
}

// Resume answers a CONNECT to which [Broker.Connect] answered Pending, and goes on with what came behind it. Like Receive it
// appends what is to be sent and returns why the connection is to be closed then, nil to go on.
func (c *Conn) Resume(now time.Time, a Answer, out []byte) ([]byte, error) {
	if c.state != deferred {
		return out, ErrClosed
	}
	waited := c.connect
	f, _, err := packet.Split(waited.wire, 0)
	if err == nil {
		d := packet.Decoder{Version: c.version, Limits: c.config.limits()}
		var p packet.Connect
		if p, err = d.Connect(f); err == nil {
			c.state = waiting
			out, err = c.answer(now, &p, a, out)
		}
	}
	for early := waited.early; err == nil && len(early) > 0; {
		var n int
		if f, n, err = packet.Split(early, 0); err == nil {
			early = early[n:]
			out, err = c.handle(now, f, out)
		}
	}
	if err != nil {
		out = c.fail(err, out)
	}
	return out, err
}

// accept notes what the client asks for.
func accept(c *Conn, p *packet.Connect) {
	c.keepAlive = p.KeepAlive
	if limit := c.config.KeepAlive; limit > 0 && (p.KeepAlive == 0 || p.KeepAlive > limit) && c.version == packet.V5 {
		c.keepAlive = limit
	}
	c.quota = min(uint16(p.Properties.UintOr(packet.ReceiveMaximum, 65_535)), or(c.config.MaxInflight, 100))
	c.aliases = min(uint16(p.Properties.UintOr(packet.TopicAliasMaximum, 0)), c.config.TopicAliases)
}

// expiry returns how long the session of a client is kept, in seconds.
func (c *Config) expiry(v packet.Version, p *packet.Connect) uint32 {
	switch {
	case v == packet.V5:
		return c.limitExpiry(p.Properties.UintOr(packet.SessionExpiry, 0))
	case p.CleanStart:
		return 0
	default: // 3.1.1 keeps sessions without an end
		return c.limitExpiry(forever)
	}
}

func (c *Config) limitExpiry(asked uint32) uint32 { return min(asked, or(c.MaxExpiry, forever)) }

// granted returns the properties of a CONNACK (§3.2.2.3).
func (c *Conn) granted(p *packet.Connect, id string, more packet.Properties) packet.Properties {
	if c.version != packet.V5 {
		return nil
	}
	g := packet.Properties(nil).WithUint(packet.ReceiveMaximum, uint32(or(c.config.ReceiveMaximum, 100)))
	if c.session.expiry != p.Properties.UintOr(packet.SessionExpiry, 0) {
		g = g.WithUint(packet.SessionExpiry, c.session.expiry)
	}
	g = g.WithUint(packet.MaximumPacketSize, uint32(c.config.maxPacket()))
	if c.config.TopicAliases > 0 {
		g = g.WithUint(packet.TopicAliasMaximum, uint32(c.config.TopicAliases))
	}
	if c.keepAlive != p.KeepAlive {
		g = g.WithUint(packet.ServerKeepAlive, uint32(c.keepAlive)) // [MQTT-3.2.2-21]
	}
	if id != string(p.ClientID) {
		g = g.WithText(packet.AssignedClientIdentifier, id) // [MQTT-3.2.2-16]
	}
	if method := p.Properties.Bytes(packet.AuthenticationMethod); method != nil && len(more.Bytes(packet.AuthenticationMethod)) == 0 {
		g = g.WithBytes(packet.AuthenticationMethod, method)
	}
	return append(g, more...)
}

// refuse appends a CONNACK that says why not.
func (c *Conn) refuse(code packet.Code, why string, more packet.Properties, out []byte) []byte {
	ack := packet.Connack{Code: code, Properties: more}
	if why != "" {
		ack.Properties = more.WithText(packet.ReasonString, why)
	}
	write := func(b []byte) ([]byte, error) { return ack.Append(b, c.version) }
	return c.append(out, write, func() { ack.Properties = nil })
}

// receiveAuth handles an AUTH (§4.12).
func (c *Conn) receiveAuth(now time.Time, d *packet.Decoder, f packet.Frame, out []byte) ([]byte, error) {
	p, err := d.Auth(f)
	switch {
	case err != nil:
		return out, err
	case !c.method:
		return out, refusal("§4.12", "client sent an AUTH without an authentication method in its CONNECT")
	case c.state == authenticating && p.Code != packet.ContinueAuthentication:
		return out, refusal("§4.12", "client sent an AUTH with %s before it was authenticated", p.Code)
	}
	a := c.broker.Auth(c, &p)
	if c.state == authenticating {
		again, _, err := packet.Split(c.connect.wire, 0)
		if err != nil {
			return out, err
		}
		connect, err := d.Connect(again)
		if err != nil {
			return out, err
		}
		return c.answer(now, &connect, a, out)
	}
	if a.Code.Failed() {
		return out, &packet.Error{Code: a.Code, Clause: "§4.12.1", Text: "client was refused when it authenticated again"}
	}
	auth := packet.Auth{Code: a.Code, Properties: a.Properties}
	return auth.Append(out)
}
