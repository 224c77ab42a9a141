package packet

import (
	"encoding/binary"
	"fmt"

	"voltbus/protocol/mqtt/topic"
)

// QoS is a quality of service: 0 at most once, 1 at least once, 2 exactly once.
type QoS byte

// Connect is a CONNECT (§3.1).
type Connect struct {
	Version    Version
	CleanStart bool   // in 3.1.1 called clean session
	KeepAlive  uint16 // in seconds, 0 for off
	Properties Properties
	ClientID   []byte // empty to have one assigned
	Will       *Will  // nil for none
	UserName   []byte // nil if absent
	Password   []byte // nil if absent
}

// Will is the message that a server publishes when a connection is lost.
type Will struct {
	QoS        QoS
	Retain     bool
	Properties Properties
	Topic      []byte
	Payload    []byte
}

// The connect flags (§3.1.2.3).
const (
	flagReserved   = 0x01
	flagCleanStart = 0x02
	flagWill       = 0x04
	flagWillRetain = 0x20
	flagPassword   = 0x40
	flagUserName   = 0x80

	shiftWillQoS = 3
	maskQoS      = 3
)

const protocolName = "MQTT"

// Connect decodes a CONNECT of any version that is spoken here.
func (d *Decoder) Connect(f Frame) (Connect, error) {
	own := Decoder{Limits: d.Limits} // the version is in the packet
	r := own.open(f, CONNECT)
	name, version := r.binary(), Version(r.byte())
	if r.err == nil {
		if err := checkProtocol(name, version); err != nil {
			return Connect{}, err
		}
		own.Version = version
		r.err = own.header(f)
	}
	flags := r.byte()
	if r.err == nil {
		r.err = checkConnectFlags(flags, version)
	}
	c := Connect{Version: version, CleanStart: flags&flagCleanStart != 0, KeepAlive: r.uint16()}
	c.Properties = own.properties(&r, CONNECT)
	c.ClientID = r.text()
	if flags&flagWill != 0 {
		c.Will = own.will(&r, flags)
	}
	if flags&flagUserName != 0 {
		c.UserName = r.text()
	}
	if flags&flagPassword != 0 {
		c.Password = r.binary()
	}
	if err := r.end(); err != nil {
		return Connect{Version: version}, err
	}
	if version == V311 && len(c.ClientID) == 0 && !c.CleanStart {
		return c, &Error{ClientIdentifierNotValid, "MQTT-3.1.3-8 of 3.1.1", "client identifier is empty without a clean session"}
	}
	return c, nil
}

// header checks what the version says about the fixed header of a CONNECT.
func (d *Decoder) header(f Frame) error {
	r := d.open(f, CONNECT)
	return r.err
}

func checkProtocol(name []byte, v Version) error {
	switch {
	case string(name) == "MQIsdp":
		return &Error{UnsupportedProtocolVersion, "MQTT-3.1.2-2", "client speaks MQTT 3.1; 3.1.1 and 5.0 are spoken here"}
	case string(name) != protocolName:
		return &Error{UnsupportedProtocolVersion, "MQTT-3.1.2-1", fmt.Sprintf("protocol is called %q, want %q", name, protocolName)}
	case v != V311 && v != V5:
		return &Error{UnsupportedProtocolVersion, "MQTT-3.1.2-2", fmt.Sprintf("protocol version is %d; 4 (3.1.1) and 5 are spoken here", v)}
	}
	return nil
}

func checkConnectFlags(flags byte, v Version) error {
	will, qos := flags&flagWill != 0, flags>>shiftWillQoS&maskQoS
	switch {
	case flags&flagReserved != 0:
		return malformed("MQTT-3.1.2-3", "reserved flag of the CONNECT is set")
	case !will && qos != 0:
		return malformed("MQTT-3.1.2-11", "CONNECT has a QoS of the will but no will")
	case !will && flags&flagWillRetain != 0:
		return malformed("MQTT-3.1.2-13", "CONNECT wants the will retained but has no will")
	case qos == 3:
		return malformed("MQTT-3.1.2-12", "QoS of the will is 3")
	case v == V311 && flags&flagPassword != 0 && flags&flagUserName == 0:
		return malformed("MQTT-3.1.2-22 of 3.1.1", "CONNECT has a password without a user name")
	}
	return nil
}

func (d *Decoder) will(r *reader, flags byte) *Will {
	w := &Will{QoS: QoS(flags >> shiftWillQoS & maskQoS), Retain: flags&flagWillRetain != 0}
	w.Properties = d.properties(r, 0)
	w.Topic = r.text()
	w.Payload = r.binary()
	if r.err == nil {
		if err := topic.Check(w.Topic, d.Limits.Levels); err != nil {
			r.fail(topicError(err, TopicNameInvalid))
		} else {
			r.err = checkResponse(w.Properties)
		}
	}
	return w
}

// Append appends the packet.
func (c *Connect) Append(b []byte) ([]byte, error) {
	if !fits(c.ClientID, c.UserName, c.Password) || c.Will != nil && !fits(c.Will.Topic, c.Will.Payload) {
		return b, errTooLong
	}
	size := 2 + len(protocolName) + 1 + 1 + 2 + c.Properties.sectionSize(c.Version) + 2 + len(c.ClientID)
	var flags byte
	if c.CleanStart {
		flags |= flagCleanStart
	}
	if w := c.Will; w != nil {
		flags |= flagWill | byte(w.QoS&maskQoS)<<shiftWillQoS
		if w.Retain {
			flags |= flagWillRetain
		}
		size += w.Properties.sectionSize(c.Version) + 4 + len(w.Topic) + len(w.Payload)
	}
	if c.UserName != nil {
		flags |= flagUserName
		size += 2 + len(c.UserName)
	}
	if c.Password != nil {
		flags |= flagPassword
		size += 2 + len(c.Password)
	}
	b, err := appendHeader(b, CONNECT, 0, size)
	if err != nil {
		return b, err
	}
	b = append(appendField(b, protocolName), byte(c.Version), flags)
	b = binary.BigEndian.AppendUint16(b, c.KeepAlive)
	b = c.Properties.appendSection(b, c.Version)
	return c.appendPayload(b), nil
}

func (c *Connect) appendPayload(b []byte) []byte {
	b = appendField(b, c.ClientID)
	if w := c.Will; w != nil {
		b = w.Properties.appendSection(b, c.Version)
		b = appendField(appendField(b, w.Topic), w.Payload)
	}
	if c.UserName != nil {
		b = appendField(b, c.UserName)
	}
	if c.Password != nil {
		b = appendField(b, c.Password)
	}
	return b
}

// Connack is a CONNACK (§3.2).
type Connack struct {
	SessionPresent bool
	Code           Code
	Properties     Properties
}

// Connack decodes a CONNACK.
func (d *Decoder) Connack(f Frame) (Connack, error) {
	r := d.open(f, CONNACK)
	flags, code := r.byte(), r.byte()
	c := Connack{SessionPresent: flags&1 != 0, Code: Code(code)}
	c.Properties = d.properties(&r, CONNACK)
	if err := r.end(); err != nil {
		return Connack{}, err
	}
	if d.Version != V5 {
		if int(code) >= len(connackTable) {
			return Connack{}, malformed("§3.2.2.3 of 3.1.1", "return code of the CONNACK is %d", code)
		}
		c.Code = connackTable[code]
	}
	switch {
	case flags > 1:
		return Connack{}, malformed("MQTT-3.2.2-1", "reserved flags of the CONNACK are set")
	case !c.Code.allowed(CONNACK):
		return Connack{}, malformed("MQTT-3.2.2-8", "a CONNACK has no %s", c.Code)
	case c.SessionPresent && c.Code != Success:
		return Connack{}, violation("MQTT-3.2.2-6", "CONNACK with %s says that a session is present", c.Code)
	}
	return c, nil
}

// Append appends the packet.
func (c *Connack) Append(b []byte, v Version) ([]byte, error) {
	b, err := appendHeader(b, CONNACK, 0, 2+c.Properties.sectionSize(v))
	if err != nil {
		return b, err
	}
	code := byte(c.Code)
	if v != V5 {
		code = c.Code.returnCode()
	}
	var flags byte
	if c.SessionPresent {
		flags = 1
	}
	return c.Properties.appendSection(append(b, flags, code), v), nil
}
