package packet

import (
	"fmt"
	"iter"
)

// Property names a property (§2.2.2.2).
type Property byte

// The properties.
const (
	PayloadFormat                   Property = 0x01
	MessageExpiry                   Property = 0x02
	ContentType                     Property = 0x03
	ResponseTopic                   Property = 0x08
	CorrelationData                 Property = 0x09
	SubscriptionIdentifier          Property = 0x0B
	SessionExpiry                   Property = 0x11
	AssignedClientIdentifier        Property = 0x12
	ServerKeepAlive                 Property = 0x13
	AuthenticationMethod            Property = 0x15
	AuthenticationData              Property = 0x16
	RequestProblemInformation       Property = 0x17
	WillDelay                       Property = 0x18
	RequestResponseInformation      Property = 0x19
	ResponseInformation             Property = 0x1A
	ServerReference                 Property = 0x1C
	ReasonString                    Property = 0x1F
	ReceiveMaximum                  Property = 0x21
	TopicAliasMaximum               Property = 0x22
	TopicAlias                      Property = 0x23
	MaximumQoS                      Property = 0x24
	RetainAvailable                 Property = 0x25
	UserProperty                    Property = 0x26
	MaximumPacketSize               Property = 0x27
	WildcardSubscriptionAvailable   Property = 0x28
	SubscriptionIdentifierAvailable Property = 0x29
	SharedSubscriptionAvailable     Property = 0x2A
)

// kind is how the value of a property is written.
type kind byte

const (
	kindNone kind = iota
	kindFlag      // a byte that is 0 or 1
	kindUint16
	kindUint32
	kindVariable
	kindText
	kindBinary
	kindPair
)

// propertyTable is §2.2.2.2 table 2-4.
var propertyTable = [...]struct {
	name string
	kind kind
	in   places
	// nonzero says that 0 is a protocol error.
	nonzero bool
}{
	PayloadFormat:                   {"payload format indicator", kindFlag, inPublish | inWill, false},
	MessageExpiry:                   {"message expiry interval", kindUint32, inPublish | inWill, false},
	ContentType:                     {"content type", kindText, inPublish | inWill, false},
	ResponseTopic:                   {"response topic", kindText, inPublish | inWill, false},
	CorrelationData:                 {"correlation data", kindBinary, inPublish | inWill, false},
	SubscriptionIdentifier:          {"subscription identifier", kindVariable, inPublish | inSubscribe, true},
	SessionExpiry:                   {"session expiry interval", kindUint32, inConnect | inConnack | inDisc, false},
	AssignedClientIdentifier:        {"assigned client identifier", kindText, inConnack, false},
	ServerKeepAlive:                 {"server keep alive", kindUint16, inConnack, false},
	AuthenticationMethod:            {"authentication method", kindText, inConnect | inConnack | inAuth, false},
	AuthenticationData:              {"authentication data", kindBinary, inConnect | inConnack | inAuth, false},
	RequestProblemInformation:       {"request problem information", kindFlag, inConnect, false},
	WillDelay:                       {"will delay interval", kindUint32, inWill, false},
	RequestResponseInformation:      {"request response information", kindFlag, inConnect, false},
	ResponseInformation:             {"response information", kindText, inConnack, false},
	ServerReference:                 {"server reference", kindText, inConnack | inDisc, false},
	ReasonString:                    {"reason string", kindText, inConnack | inAcks | inSubs | inDisc | inAuth, false},
	ReceiveMaximum:                  {"receive maximum", kindUint16, inConnect | inConnack, true},
	TopicAliasMaximum:               {"topic alias maximum", kindUint16, inConnect | inConnack, false},
	TopicAlias:                      {"topic alias", kindUint16, inPublish, true},
	MaximumQoS:                      {"maximum QoS", kindFlag, inConnack, false},
	RetainAvailable:                 {"retain available", kindFlag, inConnack, false},
	UserProperty:                    {"user property", kindPair, ^places(0), false},
	MaximumPacketSize:               {"maximum packet size", kindUint32, inConnect | inConnack, true},
	WildcardSubscriptionAvailable:   {"wildcard subscription available", kindFlag, inConnack, false},
	SubscriptionIdentifierAvailable: {"subscription identifier available", kindFlag, inConnack, false},
	SharedSubscriptionAvailable:     {"shared subscription available", kindFlag, inConnack, false},
}

func (p Property) kind() kind {
	if int(p) < len(propertyTable) {
		return propertyTable[p].kind
	}
	return kindNone
}

// String returns the name of the property as the standard writes it, in lower case.
func (p Property) String() string {
	if p.kind() != kindNone {
		return propertyTable[p].name
	}
	return fmt.Sprintf("property 0x%02X", byte(p))
}

// Properties are properties one after the other as a packet holds them, without their length. They
// come from a [Decoder] or from the With methods and are valid then. The zero value is none. Nil
// and empty are alike.
type Properties []byte

// property is one of Properties.
type property struct {
	id     Property
	value  uint32 // of numbers
	text   []byte // of texts, binary data and the names of pairs
	second []byte // the values of pairs
}

// next reads the first property.
func (r *reader) property() property {
	p := property{id: Property(r.byte())}
	switch p.id.kind() {
	case kindFlag:
		p.value = uint32(r.byte())
	case kindUint16:
		p.value = uint32(r.uint16())
	case kindUint32:
		p.value = r.uint32()
	case kindVariable:
		p.value = r.variable()
	case kindText:
		p.text = r.text()
	case kindBinary:
		p.text = r.binary()
	case kindPair:
		p.text, p.second = r.text(), r.text()
	case kindNone:
		r.fail(malformed("§2.2.2.2", "%s of the %s does not exist", p.id, r.of))
	}
	return p
}

// all yields the properties, which are valid.
func (p Properties) all() iter.Seq[property] {
	return func(yield func(property) bool) {
		for r := (reader{body: p}); len(r.body) > 0; {
			if one := r.property(); r.err != nil || !yield(one) {
				return
			}
		}
	}
}

// Uint returns a number or flag.
func (p Properties) Uint(id Property) (uint32, bool) {
	for one := range p.all() {
		if one.id == id {
			return one.value, true
		}
	}
	return 0, false
}

// UintOr returns a number or flag, or what is meant if it is absent.
func (p Properties) UintOr(id Property, absent uint32) uint32 {
	if v, ok := p.Uint(id); ok {
		return v
	}
	return absent
}

// Bytes returns a text or binary data as part of p, nil if it is absent.
func (p Properties) Bytes(id Property) []byte {
	for one := range p.all() {
		if one.id == id {
			return one.text
		}
	}
	return nil
}

// User yields the user properties in their order.
func (p Properties) User() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for one := range p.all() {
			if one.id == UserProperty && !yield(one.text, one.second) {
				return
			}
		}
	}
}

// Subscriptions yields the subscription identifiers of a PUBLISH.
func (p Properties) Subscriptions() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for one := range p.all() {
			if one.id == SubscriptionIdentifier && !yield(one.value) {
				return
			}
		}
	}
}

// properties reads the length and the properties of a packet and checks them. where is the type of
// the packet, 0 for a will.
func (d *Decoder) properties(r *reader, where Type) Properties {
	if d.Version != V5 {
		return nil
	}
	section := r.take(int(r.variable()))
	if len(section) == 0 {
		return nil
	}
	if err := d.check(section, where, r.of); err != nil {
		r.fail(err)
		return nil
	}
	return section
}

// check walks through the properties of a packet.
func (d *Decoder) check(section []byte, where, of Type) error {
	var seen uint64
	user := 0
	for r := (reader{body: section, of: of}); len(r.body) > 0; {
		p := r.property()
		if r.err != nil {
			return r.err
		}
		if err := p.check(where, of); err != nil {
			return err
		}
		if p.id == UserProperty {
			if user++; d.Limits.UserProperties > 0 && user > d.Limits.UserProperties {
				return &Error{QuotaExceeded, "§3.1.2.11.8", fmt.Sprintf("%s has more than the %d user properties allowed here", of, d.Limits.UserProperties)}
			}
			continue
		}
		if seen&(1<<p.id) != 0 && (p.id != SubscriptionIdentifier || where != PUBLISH) {
			return violation("§2.2.2.2", "%s of the %s is there twice", p.id, of)
		}
		seen |= 1 << p.id
	}
	if seen&(1<<AuthenticationData) != 0 && seen&(1<<AuthenticationMethod) == 0 {
		return violation("§3.1.2.11.10", "%s has authentication data without an authentication method", of)
	}
	return nil
}

// check reports whether the property may be where it is with its value.
func (p *property) check(where, of Type) error {
	rule := &propertyTable[p.id]
	switch {
	case rule.in&in(where) == 0:
		return malformed("§2.2.2.2", "a %s has no %s", of, p.id)
	case rule.kind == kindFlag && p.value > 1:
		return violation("§2.2.2.2", "%s of the %s is %d, want 0 or 1", p.id, of, p.value)
	case p.id == TopicAlias && p.value == 0:
		return &Error{TopicAliasInvalid, "MQTT-3.3.2-8", "topic alias is 0"}
	case rule.nonzero && p.value == 0:
		return violation("§2.2.2.2", "%s of the %s is 0", p.id, of)
	}
	return nil
}
