package packet

import (
	"encoding/binary"

	"voltbus/protocol/mqtt/topic"
)

// Publish is a PUBLISH (§3.3).
type Publish struct {
	Dup        bool
	QoS        QoS
	Retain     bool
	Topic      []byte // may be empty with a topic alias
	ID         uint16 // the packet identifier, 0 with QoS 0
	Properties Properties
	Payload    []byte
}

// The flags of a PUBLISH (§3.3.1).
const (
	flagRetain = 0x01
	flagDup    = 0x08

	shiftQoS = 1
)

// Publish decodes a PUBLISH.
func (d *Decoder) Publish(f Frame) (Publish, error) {
	r := d.open(f, PUBLISH)
	p := Publish{Dup: f.Flags&flagDup != 0, QoS: QoS(f.Flags >> shiftQoS & maskQoS), Retain: f.Flags&flagRetain != 0}
	switch {
	case p.QoS > 2:
		return Publish{}, malformed("MQTT-3.3.1-4", "QoS of the PUBLISH is 3")
	case p.QoS == 0 && p.Dup:
		return Publish{}, malformed("MQTT-3.3.1-2", "PUBLISH with QoS 0 is marked as sent again")
	}
	p.Topic = r.binary()
	if p.QoS > 0 {
		p.ID = r.identifier()
	}
	p.Properties = d.properties(&r, PUBLISH)
	if r.err != nil {
		return Publish{}, r.err
	}
	p.Payload = r.body
	return p, d.checkPublish(&p)
}

func (d *Decoder) checkPublish(p *Publish) error {
	if len(p.Topic) == 0 && d.Version == V5 {
		if _, ok := p.Properties.Uint(TopicAlias); !ok {
			return violation("§3.3.2.1", "PUBLISH has neither a topic name nor a topic alias")
		}
	} else if err := topic.Check(p.Topic, d.Limits.Levels); err != nil {
		return topicError(err, TopicNameInvalid)
	}
	return checkResponse(p.Properties)
}

// checkResponse checks that a response topic is a topic name [MQTT-3.3.2-14].
func checkResponse(p Properties) error {
	if len(p) == 0 {
		return nil
	}
	if response := p.Bytes(ResponseTopic); response != nil && (len(response) == 0 || topic.Wild(response)) {
		return violation("MQTT-3.3.2-14", "response topic %q is not a topic name", response)
	}
	return nil
}

// Size returns how many bytes the packet takes.
func (p *Publish) Size(v Version) int {
	n := p.body(v)
	return 1 + variableSize(uint32(min(n, maxRemaining))) + n
}

func (p *Publish) body(v Version) int {
	n := 2 + len(p.Topic) + p.Properties.sectionSize(v) + len(p.Payload)
	if p.QoS > 0 {
		n += 2
	}
	return n
}

// Append appends the packet.
func (p *Publish) Append(b []byte, v Version) ([]byte, error) {
	if !fits(p.Topic) {
		return b, errTooLong
	}
	flags := byte(p.QoS&maskQoS) << shiftQoS
	if p.Dup {
		flags |= flagDup
	}
	if p.Retain {
		flags |= flagRetain
	}
	b, err := appendHeader(b, PUBLISH, flags, p.body(v))
	if err != nil {
		return b, err
	}
	b = appendField(b, p.Topic)
	if p.QoS > 0 {
		b = binary.BigEndian.AppendUint16(b, p.ID)
	}
	return append(p.Properties.appendSection(b, v), p.Payload...), nil
}

// Ack is a PUBACK, PUBREC, PUBREL or PUBCOMP (§3.4 to §3.7).
type Ack struct {
	Type       Type
	ID         uint16
	Code       Code // always Success in 3.1.1
	Properties Properties
}

// ackClause names the rule about the reason codes of a packet.
func ackClause(t Type) string {
	switch t {
	case PUBACK:
		return "MQTT-3.4.2-1"
	case PUBREC:
		return "MQTT-3.5.2-1"
	case PUBREL:
		return "MQTT-3.6.2-1"
	default:
		return "MQTT-3.7.2-1"
	}
}

// Ack decodes a PUBACK, PUBREC, PUBREL or PUBCOMP.
func (d *Decoder) Ack(f Frame) (Ack, error) {
	r := d.open(f, f.Type)
	if f.Type < PUBACK || f.Type > PUBCOMP {
		return Ack{}, violation("§2.1.2", "got a %s, want an acknowledgement", f.Type)
	}
	a := Ack{Type: f.Type, ID: r.identifier()}
	if d.Version == V5 && len(r.body) > 0 {
		a.Code = Code(r.byte())
		if !a.Code.allowed(f.Type) {
			return Ack{}, malformed(ackClause(f.Type), "a %s has no %s", f.Type, a.Code)
		}
		if len(r.body) > 0 {
			a.Properties = d.properties(&r, f.Type)
		}
	}
	return a, r.end()
}

// Append appends the packet in its shortest form. In 3.1.1 the reason code is left out.
func (a *Ack) Append(b []byte, v Version) ([]byte, error) {
	size := 2
	if v == V5 && len(a.Properties) > 0 {
		size += 1 + a.Properties.sectionSize(v)
	} else if v == V5 && a.Code != Success {
		size++
	}
	b, err := appendHeader(b, a.Type, a.Type.flags(), size)
	if err != nil {
		return b, err
	}
	b = binary.BigEndian.AppendUint16(b, a.ID)
	if size > 2 {
		b = append(b, byte(a.Code))
	}
	if size > 3 {
		b = a.Properties.appendSection(b, v)
	}
	return b, nil
}
