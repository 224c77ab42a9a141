// Package npdu reads and writes the network layer of BACnet (ASHRAE 135 clause 6): the
// header before each APDU, addresses behind routers, and the messages of routers.
//
//	version 1 | control | [DNET DLEN DADR] | [SNET SLEN SADR] | [hop count] | APDU or message
package npdu

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

// Global is the network number of a broadcast to all networks.
const Global = 0xFFFF

// MaxMAC is the longest MAC that is accepted. The standard's longest is 18 octets, of an IPv6
// address with its port.
const MaxMAC = 18

const (
	version         = 1
	hops            = 255
	controlMessage  = 0x80
	controlDest     = 0x20
	controlSource   = 0x08
	controlReply    = 0x04
	controlPriority = 0x03
)

// Errors of an NPDU.
var (
	ErrTruncated = errors.New("the NPDU ends too early")
	ErrVersion   = errors.New("unknown version of the network layer")
	ErrAddress   = errors.New("impossible network address")
)

// Address is a station on a network that a router reaches. It is comparable; the zero value
// means the local network.
type Address struct {
	Net uint16 // 1–65534; Global: all networks
	MAC string // its octets; empty: all stations of the network
}

// IsLocal reports whether there is no router before the station.
func (a Address) IsLocal() bool { return a.Net == 0 }

// String returns network and MAC, such as 5:0A.
func (a Address) String() string {
	switch {
	case a.Net == 0:
		return "local"
	case a.MAC == "":
		return strconv.Itoa(int(a.Net)) + ":*"
	}
	return strconv.Itoa(int(a.Net)) + ":" + hex.EncodeToString([]byte(a.MAC))
}

// Header is what stands before an APDU or a message of the network layer.
type Header struct {
	Destination Address // zero: the local network
	Source      Address // zero: the sender of the datagram itself
	Hops        uint8   // hop count, when there is a destination; 0 is written as 255
	Reply       bool    // an answer is expected
	Priority    uint8   // 0 normal, 1 urgent, 2 critical equipment, 3 life safety
	IsMessage   bool    // a message of the network layer follows, no APDU
	Message     MessageType
	Vendor      uint16 // of a vendor's message
}

// MessageType is a message between routers (clause 6.2.4).
type MessageType uint8

// The messages of the standard; 0x80 upwards are a vendor's.
const (
	WhoIsRouter            MessageType = 0x00
	IAmRouter              MessageType = 0x01
	ICouldBeRouter         MessageType = 0x02
	RejectMessage          MessageType = 0x03
	RouterBusy             MessageType = 0x04
	RouterAvailable        MessageType = 0x05
	InitializeRoutingTable MessageType = 0x06
	InitializeRoutingAck   MessageType = 0x07
	EstablishConnection    MessageType = 0x08
	DisconnectConnection   MessageType = 0x09
	WhatIsNetworkNumber    MessageType = 0x12
	NetworkNumberIs        MessageType = 0x13

	vendorMessage MessageType = 0x80
)

// Parse reads an NPDU and returns what follows the header.
func Parse(p []byte) (Header, []byte, error) {
	var h Header
	if len(p) < 2 {
		return h, nil, ErrTruncated
	}
	if p[0] != version {
		return h, nil, fmt.Errorf("%w: %d", ErrVersion, p[0])
	}
	control := p[1]
	h.IsMessage, h.Reply, h.Priority = control&controlMessage != 0, control&controlReply != 0, control&controlPriority
	p = p[2:]
	var err error
	if control&controlDest != 0 {
		if h.Destination, p, err = parseAddress(p); err != nil {
			return h, nil, fmt.Errorf("destination: %w", err)
		}
	}
	if control&controlSource != 0 {
		if h.Source, p, err = parseAddress(p); err != nil {
			return h, nil, fmt.Errorf("source: %w", err)
		}
		if h.Source.MAC == "" || h.Source.Net == Global {
			return h, nil, fmt.Errorf("source: %w: %v", ErrAddress, h.Source)
		}
	}
	if control&controlDest != 0 {
		if len(p) < 1 {
			return h, nil, ErrTruncated
		}
		h.Hops, p = p[0], p[1:]
	}
	if h.IsMessage {
		p, err = h.parseMessage(p)
	}
	return h, p, err
}

func (h *Header) parseMessage(p []byte) ([]byte, error) {
	if len(p) < 1 {
		return nil, ErrTruncated
	}
	h.Message, p = MessageType(p[0]), p[1:]
	if h.Message < vendorMessage {
		return p, nil
	}
	if len(p) < 2 {
		return nil, ErrTruncated
	}
	h.Vendor = binary.BigEndian.Uint16(p)
	return p[2:], nil
}

func parseAddress(p []byte) (Address, []byte, error) {
	if len(p) < 3 {
		return Address{}, nil, ErrTruncated
	}
	net, length, p := binary.BigEndian.Uint16(p), int(p[2]), p[3:]
	if net == 0 || length > MaxMAC {
		return Address{}, nil, fmt.Errorf("%w: network %d, %d octets", ErrAddress, net, length)
	}
	if len(p) < length {
		return Address{}, nil, ErrTruncated
	}
	return Address{Net: net, MAC: string(p[:length])}, p[length:], nil
}

// Append writes the header; the APDU or the message's data is appended behind it.
func Append(b []byte, h Header) []byte {
	control := h.Priority & controlPriority
	if h.IsMessage {
		control |= controlMessage
	}
	if h.Reply {
		control |= controlReply
	}
	if h.Destination.Net != 0 {
		control |= controlDest
	}
	if h.Source.Net != 0 {
		control |= controlSource
	}
	b = append(b, version, control)
	if h.Destination.Net != 0 {
		b = appendAddress(b, h.Destination)
	}
	if h.Source.Net != 0 {
		b = appendAddress(b, h.Source)
	}
	if h.Destination.Net != 0 {
		left := h.Hops
		if left == 0 {
			left = hops
		}
		b = append(b, left)
	}
	if h.IsMessage {
		if b = append(b, byte(h.Message)); h.Message >= vendorMessage {
			b = binary.BigEndian.AppendUint16(b, h.Vendor)
		}
	}
	return b
}

func appendAddress(b []byte, a Address) []byte {
	b = binary.BigEndian.AppendUint16(b, a.Net)
	return append(append(b, byte(len(a.MAC))), a.MAC...)
}

// ParseNetworks reads the network numbers of IAmRouter, RouterBusy and RouterAvailable, and the
// one of WhoIsRouter, if any.
func ParseNetworks(p []byte) ([]uint16, error) {
	if len(p)%2 != 0 {
		return nil, ErrTruncated
	}
	var nets []uint16
	for ; len(p) > 0; p = p[2:] {
		nets = append(nets, binary.BigEndian.Uint16(p))
	}
	return nets, nil
}

// AppendNetworks writes network numbers behind the header of such a message.
func AppendNetworks(b []byte, nets ...uint16) []byte {
	for _, net := range nets {
		b = binary.BigEndian.AppendUint16(b, net)
	}
	return b
}

// RejectReason says why a router did not pass on a message (clause 6.4.4).
type RejectReason uint8

// String says the reason in words.
func (r RejectReason) String() string {
	if int(r) < len(rejectNames) {
		return rejectNames[r]
	}
	return strconv.Itoa(int(r))
}

var rejectNames = [...]string{
	"other error", "the router does not reach the network", "the router is busy", "unknown network message",
	"the message is too long for the network", "security error", "wrong address",
}

// ParseReject reads a RejectMessage.
func ParseReject(p []byte) (RejectReason, uint16, error) {
	if len(p) < 3 {
		return 0, 0, ErrTruncated
	}
	return RejectReason(p[0]), binary.BigEndian.Uint16(p[1:]), nil
}

// Route is an entry of a routing table (clause 6.4.7).
type Route struct {
	Net  uint16
	Port uint8
	Info []byte
}

// ParseRoutes reads InitializeRoutingTable and InitializeRoutingAck.
func ParseRoutes(p []byte) ([]Route, error) {
	if len(p) < 1 {
		return nil, ErrTruncated
	}
	count, p := int(p[0]), p[1:]
	var routes []Route
	for range count {
		if len(p) < 4 || len(p) < 4+int(p[3]) {
			return nil, ErrTruncated
		}
		end := 4 + int(p[3])
		routes = append(routes, Route{Net: binary.BigEndian.Uint16(p), Port: p[2], Info: p[4:end]})
		p = p[end:]
	}
	return routes, nil
}
