package sc

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"strings"
)

// VMAC is the virtual MAC address of a node (ASHRAE 135 clause H.7.3).
type VMAC [6]byte

// randomVMAC is the low half of the first octet of addresses that are drawn (clause H.7.3).
const randomVMAC = 0x02

// RandomVMAC returns an address that is drawn, as most nodes have one.
func RandomVMAC() VMAC {
	var v VMAC
	_, _ = rand.Read(v[:]) // never fails
	v[0] = v[0]&0xF0 | randomVMAC
	return v
}

// ParseVMAC reads an address as String writes it.
func ParseVMAC(text string) (VMAC, error) {
	octets, err := net.ParseMAC(text)
	if err != nil || len(octets) != len(VMAC{}) {
		return VMAC{}, ErrVMAC
	}
	v := VMAC(octets)
	if v == (VMAC{}) || v == BroadcastVMAC() {
		return VMAC{}, ErrVMAC
	}
	return v, nil
}

// BroadcastVMAC returns the address of all nodes (AB.1.5.2).
func BroadcastVMAC() VMAC { return VMAC{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF} }

// String returns the address as six pairs of digits with colons.
func (v VMAC) String() string {
	pairs := make([]string, len(v))
	for i, octet := range v {
		pairs[i] = hex.EncodeToString([]byte{octet})
	}
	return strings.Join(pairs, ":")
}

// Function is what a message is for (AB.2.1).
type Function uint8

// The functions.
const (
	Result                    Function = 0x00
	EncapsulatedNPDU          Function = 0x01
	AddressResolution         Function = 0x02
	AddressResolutionAck      Function = 0x03
	Advertisement             Function = 0x04
	AdvertisementSolicitation Function = 0x05
	ConnectRequest            Function = 0x06
	ConnectAccept             Function = 0x07
	DisconnectRequest         Function = 0x08
	DisconnectAck             Function = 0x09
	HeartbeatRequest          Function = 0x0A
	HeartbeatAck              Function = 0x0B
	Proprietary               Function = 0x0C
)

// The control flags of a message (AB.2.2).
const (
	flagData        = 0x01
	flagDestOptions = 0x02
	flagDestination = 0x04
	flagOrigin      = 0x08
	flagsReserved   = 0xF0
)

// Bounds of messages.
const (
	MaxNPDU     = 1497 // octets of an NPDU that is sent
	MaxMessage  = 1700 // octets of a message that is taken (AB.2: 16 of the header, options and an NPDU)
	minMessage  = 4
	maxOptions  = 16 // in each list
	moreOptions = 0x80
	mustKnow    = 0x40
	hasData     = 0x20
	optionType  = 0x1F
)

// Errors of messages.
var (
	ErrShort    = errors.New("the message is cut off")
	ErrFlags    = errors.New("the message has control flags that do not exist")
	ErrOptions  = errors.New("the message has too many header options")
	ErrVMAC     = errors.New("the message has an address that no node has")
	ErrPayload  = errors.New("the payload does not have the length of its function")
	ErrTrailing = errors.New("the message has octets behind its end")
)

// Option is a header option (AB.2.3).
type Option struct {
	Type uint8 // 1: secure path, 31: of a vendor
	Must bool  // who does not know the type refuses the message
	Data []byte
}

// Message is a message of BACnet/SC (AB.2).
type Message struct {
	Function    Function
	ID          uint16
	Origin      *VMAC    // nil: the node at the other end of the connection
	Destination *VMAC    // nil: likewise
	DestOptions []Option // for the node that the message reaches
	DataOptions []Option // that belong to the payload on its whole way
	Payload     []byte
}

// Append writes the message.
func (m Message) Append(b []byte) []byte {
	var flags byte
	if m.Origin != nil {
		flags |= flagOrigin
	}
	if m.Destination != nil {
		flags |= flagDestination
	}
	if len(m.DestOptions) > 0 {
		flags |= flagDestOptions
	}
	if len(m.DataOptions) > 0 {
		flags |= flagData
	}
	b = binary.BigEndian.AppendUint16(append(b, byte(m.Function), flags), m.ID)
	if m.Origin != nil {
		b = append(b, m.Origin[:]...)
	}
	if m.Destination != nil {
		b = append(b, m.Destination[:]...)
	}
	return append(appendOptions(appendOptions(b, m.DestOptions), m.DataOptions), m.Payload...)
}

func appendOptions(b []byte, options []Option) []byte {
	for i, o := range options {
		marker := o.Type & optionType
		if i < len(options)-1 {
			marker |= moreOptions
		}
		if o.Must {
			marker |= mustKnow
		}
		if o.Data != nil {
			marker |= hasData
		}
		if b = append(b, marker); o.Data != nil {
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(o.Data))), o.Data...)
		}
	}
	return b
}

// Parse reads a message, which refers to the data.
func Parse(p []byte) (Message, error) {
	if len(p) < minMessage {
		return Message{}, ErrShort
	}
	m := Message{Function: Function(p[0]), ID: binary.BigEndian.Uint16(p[2:])}
	flags, rest := p[1], p[minMessage:]
	if flags&flagsReserved != 0 {
		return Message{}, fmt.Errorf("%w: %#02x", ErrFlags, flags)
	}
	var err error
	if flags&flagOrigin != 0 {
		if m.Origin, rest, err = readVMAC(rest); err != nil {
			return Message{}, err
		}
	}
	if flags&flagDestination != 0 {
		if m.Destination, rest, err = readVMAC(rest); err != nil {
			return Message{}, err
		}
	}
	if m.Origin != nil && *m.Origin == BroadcastVMAC() {
		return Message{}, ErrVMAC
	}
	if flags&flagDestOptions != 0 {
		if m.DestOptions, rest, err = readOptions(rest); err != nil {
			return Message{}, err
		}
	}
	if flags&flagData != 0 {
		if m.DataOptions, rest, err = readOptions(rest); err != nil {
			return Message{}, err
		}
	}
	m.Payload = rest
	return m, nil
}

func readVMAC(p []byte) (*VMAC, []byte, error) {
	if len(p) < len(VMAC{}) {
		return nil, nil, ErrShort
	}
	v := VMAC(p[:6])
	if v == (VMAC{}) {
		return nil, nil, ErrVMAC
	}
	return &v, p[6:], nil
}

func readOptions(p []byte) (options []Option, rest []byte, err error) {
	for more := true; more; {
		if len(p) == 0 {
			return nil, nil, ErrShort
		}
		if len(options) == maxOptions {
			return nil, nil, ErrOptions
		}
		marker := p[0]
		o := Option{Type: marker & optionType, Must: marker&mustKnow != 0}
		p = p[1:]
		if marker&hasData != 0 {
			if len(p) < 2 || len(p)-2 < int(binary.BigEndian.Uint16(p)) {
				return nil, nil, ErrShort
			}
			n := int(binary.BigEndian.Uint16(p))
			o.Data, p = p[2:2+n:2+n], p[2+n:]
		}
		options, more = append(options, o), marker&moreOptions != 0
	}
	return options, p, nil
}

// unknown returns the first option that must be known and is not; nil if there is none.
func unknown(options []Option) *Option {
	const securePath = 1
	for i := range options {
		if options[i].Must && options[i].Type != securePath {
			return &options[i]
		}
	}
	return nil
}
