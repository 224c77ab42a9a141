// Package apdu reads and writes the fixed part of application messages (ASHRAE 135 clause
// 20.1.2 to 20.1.9): what kind of message it is, the invoke id, segmentation and the service.
// What follows belongs to the service.
package apdu

import (
	"errors"
	"fmt"
)

// Type is the kind of a message (clause 20.1.2.1).
type Type uint8

// The types of the standard.
const (
	ConfirmedRequest Type = iota
	UnconfirmedRequest
	SimpleAck
	ComplexAck
	SegmentAck
	Error
	Reject
	Abort
)

const (
	bitSegmented = 0x08
	bitMore      = 0x04
	bitAccepted  = 0x02
	bitNegative  = 0x02
	bitServer    = 0x01
)

// Errors of an APDU.
var (
	ErrTruncated = errors.New("the APDU ends too early")
	ErrType      = errors.New("unknown type of APDU")
)

// Header is the fixed part of a message. Which fields mean something depends on the type.
type Header struct {
	Type              Type
	Segmented         bool // this is one of several segments
	More              bool // more segments follow
	SegmentedAccepted bool // the client reassembles a segmented answer
	Negative          bool // of SegmentAck: a segment is missing
	Server            bool // of SegmentAck and Abort: the sender is the server
	MaxSegments       MaxSegments
	MaxAPDU           MaxAPDU
	InvokeID          uint8
	Sequence          uint8 // number of the segment
	Window            uint8 // proposed or actual window
	Service           uint8 // of requests, acks and errors; the reason of Reject and Abort
}

// Parse reads the fixed part and returns what follows it.
func Parse(p []byte) (Header, []byte, error) {
	if len(p) == 0 {
		return Header{}, nil, ErrTruncated
	}
	h := Header{Type: Type(p[0] >> 4)}
	if h.Type > Abort {
		return Header{}, nil, fmt.Errorf("%w: %d", ErrType, h.Type)
	}
	flags := p[0] & 0x0F
	size := h.flags(flags)
	if len(p) < size {
		return Header{}, nil, ErrTruncated
	}
	h.fields(p)
	return h, p[size:], nil
}

// flags reads the low half of the first octet and returns how long the fixed part is.
func (h *Header) flags(flags byte) int {
	switch h.Type {
	case ConfirmedRequest:
		h.Segmented, h.More, h.SegmentedAccepted = flags&bitSegmented != 0, flags&bitMore != 0, flags&bitAccepted != 0
		if h.Segmented {
			return 6
		}
		return 4
	case ComplexAck:
		h.Segmented, h.More = flags&bitSegmented != 0, flags&bitMore != 0
		if h.Segmented {
			return 5
		}
		return 3
	case UnconfirmedRequest:
		return 2
	case SegmentAck:
		h.Negative, h.Server = flags&bitNegative != 0, flags&bitServer != 0
		return 4
	case Abort:
		h.Server = flags&bitServer != 0
		return 3
	default:
		return 3
	}
}

func (h *Header) fields(p []byte) {
	switch h.Type {
	case ConfirmedRequest:
		h.MaxSegments, h.MaxAPDU, h.InvokeID = MaxSegments(p[1]>>4&7), MaxAPDU(p[1]&0x0F), p[2]
		h.segment(p[3:])
	case ComplexAck:
		h.InvokeID = p[1]
		h.segment(p[2:])
	case UnconfirmedRequest:
		h.Service = p[1]
	case SegmentAck:
		h.InvokeID, h.Sequence, h.Window = p[1], p[2], p[3]
	default:
		h.InvokeID, h.Service = p[1], p[2]
	}
}

func (h *Header) segment(p []byte) {
	if !h.Segmented {
		h.Service = p[0]
		return
	}
	h.Sequence, h.Window, h.Service = p[0], p[1], p[2]
}

// Append writes the fixed part; what belongs to the service is appended behind it.
func Append(b []byte, h Header) []byte {
	first := byte(h.Type) << 4
	switch h.Type {
	case ConfirmedRequest:
		first |= bit(h.Segmented, bitSegmented) | bit(h.More, bitMore) | bit(h.SegmentedAccepted, bitAccepted)
		return h.appendSegment(append(b, first, byte(h.MaxSegments)<<4|byte(h.MaxAPDU), h.InvokeID))
	case ComplexAck:
		first |= bit(h.Segmented, bitSegmented) | bit(h.More, bitMore)
		return h.appendSegment(append(b, first, h.InvokeID))
	case UnconfirmedRequest:
		return append(b, first, h.Service)
	case SegmentAck:
		return append(b, first|bit(h.Negative, bitNegative)|bit(h.Server, bitServer), h.InvokeID, h.Sequence, h.Window)
	case Abort:
		return append(b, first|bit(h.Server, bitServer), h.InvokeID, h.Service)
	default:
		return append(b, first, h.InvokeID, h.Service)
	}
}

func (h Header) appendSegment(b []byte) []byte {
	if h.Segmented {
		b = append(b, h.Sequence, h.Window)
	}
	return append(b, h.Service)
}

func bit(set bool, mask byte) byte {
	if set {
		return mask
	}
	return 0
}

// Size returns how many octets the fixed part takes.
func (h Header) Size() int {
	flags := bit(h.Segmented, bitSegmented)
	return (&Header{Type: h.Type}).flags(flags)
}

// MaxAPDU is the code of the longest APDU that a station takes (clause 20.1.2.5).
type MaxAPDU uint8

var apduSizeTable = [...]int{50, 128, 206, 480, 1024, 1476}

// Octets returns the length; reserved codes count as 50, which every station takes.
func (m MaxAPDU) Octets() int {
	if int(m) < len(apduSizeTable) {
		return apduSizeTable[m]
	}
	return apduSizeTable[0]
}

// MaxAPDUOf returns the code of the greatest length up to octets, at least 50.
func MaxAPDUOf(octets int) MaxAPDU {
	code := MaxAPDU(0)
	for i, size := range apduSizeTable {
		if size <= octets {
			code = MaxAPDU(i)
		}
	}
	return code
}

// MaxSegments is the code of how many segments a station reassembles (clause 20.1.2.4).
type MaxSegments uint8

// The codes at the ends.
const (
	UnspecifiedSegments MaxSegments = 0
	MoreSegments        MaxSegments = 7 // more than 64
)

// Count returns the number of segments; unspecified and more than 64 are 0, without a limit.
func (m MaxSegments) Count() int {
	if m == UnspecifiedSegments || m >= MoreSegments {
		return 0
	}
	return 1 << m
}

// MaxSegmentsOf returns the code of the greatest count up to n.
func MaxSegmentsOf(n int) MaxSegments {
	if n > 64 {
		return MoreSegments
	}
	code := MaxSegments(1)
	for code < 6 && 2<<code <= n {
		code++
	}
	return code
}
