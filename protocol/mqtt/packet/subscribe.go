package packet

import (
	"encoding/binary"
	"fmt"
)

// Subscribe is a SUBSCRIBE (§3.8).
type Subscribe struct {
	ID            uint16
	Properties    Properties
	Subscriptions []Subscription
}

// Subscription is a topic filter with its options. Whether the filter is valid is not checked
// here: the answer to a wrong one is a reason code of its own, see package topic.
type Subscription struct {
	Filter  []byte
	Options Options
}

// Options are subscription options (§3.8.3.1). 3.1.1 has only the QoS.
type Options byte

// The parts of Options.
const (
	NoLocal           Options = 0x04
	RetainAsPublished Options = 0x08
)

// The values of [Options.RetainHandling].
const (
	RetainedAlways byte = 0 // retained messages are sent
	RetainedIfNew  byte = 1 // they are sent if the subscription is new
	RetainedNever  byte = 2 // they are not sent
)

const (
	shiftRetainHandling = 4
	reservedOptions     = 0xC0
)

// QoS returns the highest QoS to deliver with.
func (o Options) QoS() QoS { return QoS(o & maskQoS) }

// RetainHandling returns when retained messages are sent.
func (o Options) RetainHandling() byte { return byte(o>>shiftRetainHandling) & 3 }

// WithQoS returns the options with another QoS.
func (o Options) WithQoS(q QoS) Options { return o&^maskQoS | Options(q&maskQoS) }

// WithRetainHandling returns the options with another retain handling.
func (o Options) WithRetainHandling(h byte) Options {
	return o&^(3<<shiftRetainHandling) | Options(h&3)<<shiftRetainHandling
}

func (o Options) check(v Version) error {
	switch {
	case o.QoS() > 2:
		return malformed("§3.8.3.1", "QoS of a subscription is 3")
	case v != V5 && o > 2 || o&reservedOptions != 0:
		return malformed("MQTT-3.8.3-5", "reserved options of a subscription are set")
	case o.RetainHandling() > RetainedNever:
		return violation("§3.8.3.1", "retain handling of a subscription is 3")
	}
	return nil
}

// Subscribe decodes a SUBSCRIBE.
func (d *Decoder) Subscribe(f Frame) (Subscribe, error) {
	r := d.open(f, SUBSCRIBE)
	s := Subscribe{ID: r.identifier(), Properties: d.properties(&r, SUBSCRIBE)}
	for r.err == nil && len(r.body) > 0 {
		one := Subscription{Filter: r.text(), Options: Options(r.byte())}
		if r.err == nil {
			r.err = one.Options.check(d.Version)
		}
		s.Subscriptions = append(s.Subscriptions, one)
		d.limit(&r, len(s.Subscriptions))
	}
	if r.err == nil && len(s.Subscriptions) == 0 {
		return Subscribe{}, violation("MQTT-3.8.3-2", "SUBSCRIBE has no topic filter")
	}
	return s, r.end()
}

// limit checks how many filters there are.
func (d *Decoder) limit(r *reader, n int) {
	if d.Limits.Filters > 0 && n > d.Limits.Filters {
		r.fail(&Error{QuotaExceeded, "§3.8.3", fmt.Sprintf("%s has more than the %d topic filters allowed here", r.of, d.Limits.Filters)})
	}
}

// Append appends the packet.
func (s *Subscribe) Append(b []byte, v Version) ([]byte, error) {
	size := 2 + s.Properties.sectionSize(v)
	for _, one := range s.Subscriptions {
		if !fits(one.Filter) {
			return b, errTooLong
		}
		size += 3 + len(one.Filter)
	}
	b, err := appendHeader(b, SUBSCRIBE, SUBSCRIBE.flags(), size)
	if err != nil {
		return b, err
	}
	b = s.Properties.appendSection(binary.BigEndian.AppendUint16(b, s.ID), v)
	for _, one := range s.Subscriptions {
		if v != V5 {
			one.Options &= maskQoS
		}
		b = append(appendField(b, one.Filter), byte(one.Options))
	}
	return b, nil
}

// Unsubscribe is an UNSUBSCRIBE (§3.10).
type Unsubscribe struct {
	ID         uint16
	Properties Properties
	Filters    [][]byte
}

// Unsubscribe decodes an UNSUBSCRIBE.
func (d *Decoder) Unsubscribe(f Frame) (Unsubscribe, error) {
	r := d.open(f, UNSUBSCRIBE)
	u := Unsubscribe{ID: r.identifier(), Properties: d.properties(&r, UNSUBSCRIBE)}
	for r.err == nil && len(r.body) > 0 {
		u.Filters = append(u.Filters, r.text())
		d.limit(&r, len(u.Filters))
	}
	if r.err == nil && len(u.Filters) == 0 {
		return Unsubscribe{}, violation("MQTT-3.10.3-2", "UNSUBSCRIBE has no topic filter")
	}
	return u, r.end()
}

// Append appends the packet.
func (u *Unsubscribe) Append(b []byte, v Version) ([]byte, error) {
	size := 2 + u.Properties.sectionSize(v)
	for _, f := range u.Filters {
		if !fits(f) {
			return b, errTooLong
		}
		size += 2 + len(f)
	}
	b, err := appendHeader(b, UNSUBSCRIBE, UNSUBSCRIBE.flags(), size)
	if err != nil {
		return b, err
	}
	b = u.Properties.appendSection(binary.BigEndian.AppendUint16(b, u.ID), v)
	for _, f := range u.Filters {
		b = appendField(b, f)
	}
	return b, nil
}

// Suback is a SUBACK or UNSUBACK (§3.9, §3.11).
type Suback struct {
	Type       Type // SUBACK or UNSUBACK
	ID         uint16
	Properties Properties
	Codes      []Code // one for each filter; an UNSUBACK of 3.1.1 has none
}

// Suback decodes a SUBACK or UNSUBACK.
func (d *Decoder) Suback(f Frame) (Suback, error) {
	r := d.open(f, f.Type)
	if f.Type != SUBACK && f.Type != UNSUBACK {
		return Suback{}, violation("§2.1.2", "got a %s, want a SUBACK or UNSUBACK", f.Type)
	}
	s := Suback{Type: f.Type, ID: r.identifier(), Properties: d.properties(&r, f.Type)}
	if f.Type == UNSUBACK && d.Version != V5 {
		return s, r.end()
	}
	for _, c := range r.body {
		code := Code(c)
		if !code.allowed(f.Type) || d.Version != V5 && code > GrantedQoS2 && code != UnspecifiedError {
			return Suback{}, malformed("MQTT-3.9.3-2", "a %s has no %s", f.Type, code)
		}
		s.Codes = append(s.Codes, code)
	}
	if r.err == nil && len(s.Codes) == 0 {
		return Suback{}, malformed("MQTT-3.8.4-6", "%s has no reason code", f.Type)
	}
	return s, r.err
}

// Append appends the packet. 3.1.1 knows one code for all that fails.
func (s *Suback) Append(b []byte, v Version) ([]byte, error) {
	codes := s.Codes
	if s.Type == UNSUBACK && v != V5 {
		codes = nil
	}
	b, err := appendHeader(b, s.Type, 0, 2+s.Properties.sectionSize(v)+len(codes))
	if err != nil {
		return b, err
	}
	b = s.Properties.appendSection(binary.BigEndian.AppendUint16(b, s.ID), v)
	for _, c := range codes {
		if v != V5 && c.Failed() {
			c = UnspecifiedError
		}
		b = append(b, byte(c))
	}
	return b, nil
}
