package sc

import (
	"encoding/binary"
	"fmt"

	"voltbus/protocol/bacnet/enum"
)

// UUID identifies a device for its lifetime (AB.1.5.3).
type UUID [16]byte

// Connect is what both ends of a connection say of themselves (AB.2.10 and AB.2.11).
type Connect struct {
	VMAC    VMAC
	UUID    UUID
	MaxBVLC uint16 // octets of a message that is taken
	MaxNPDU uint16 // octets of an NPDU that is taken
}

const connectSize = 6 + 16 + 2 + 2

// Append writes the payload.
func (c Connect) Append(b []byte) []byte {
	b = append(append(b, c.VMAC[:]...), c.UUID[:]...)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, c.MaxBVLC), c.MaxNPDU)
}

// ParseConnect reads the payload.
func ParseConnect(p []byte) (Connect, error) {
	if len(p) != connectSize {
		return Connect{}, fmt.Errorf("connect: %w", ErrPayload)
	}
	c := Connect{VMAC: VMAC(p[:6]), UUID: UUID(p[6:22]), MaxBVLC: binary.BigEndian.Uint16(p[22:]), MaxNPDU: binary.BigEndian.Uint16(p[24:])}
	if c.VMAC == (VMAC{}) || c.VMAC == BroadcastVMAC() {
		return Connect{}, ErrVMAC
	}
	return c, nil
}

// Outcome is the result of a message (AB.2.4): an acknowledgement, or why it was refused.
type Outcome struct {
	Function Function // of the message that it is about
	Refused  bool
	Marker   uint8 // of the header option that was not understood; 0: none
	Class    enum.ErrorClass
	Code     enum.ErrorCode
	Details  string // for people; may be empty
}

// Error says why a message was refused.
func (o Outcome) Error() string {
	text := fmt.Sprintf("refused: %v (%v)", o.Code, o.Class)
	if o.Details != "" {
		text += ": " + o.Details
	}
	return text
}

const refusalSize = 7

// Append writes the payload.
func (o Outcome) Append(b []byte) []byte {
	if !o.Refused {
		return append(b, byte(o.Function), 0)
	}
	b = append(b, byte(o.Function), 1, o.Marker)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, uint16(o.Class)), uint16(o.Code))
	return append(b, o.Details...)
}

// ParseOutcome reads the payload.
func ParseOutcome(p []byte) (Outcome, error) {
	switch {
	case len(p) == 2 && p[1] == 0:
		return Outcome{Function: Function(p[0])}, nil
	case len(p) >= refusalSize && p[1] == 1:
		return Outcome{
			Function: Function(p[0]), Refused: true, Marker: p[2], Class: enum.ErrorClass(binary.BigEndian.Uint16(p[3:])),
			Code: enum.ErrorCode(binary.BigEndian.Uint16(p[5:])), Details: string(p[refusalSize:]),
		}, nil
	}
	return Outcome{}, fmt.Errorf("result: %w", ErrPayload)
}

// Status is what a node says of itself (AB.2.8).
type Status struct {
	Hub     uint8 // 0: no hub, 1: connected to the primary hub, 2: to the failover hub
	Direct  bool  // it takes direct connections
	MaxBVLC uint16
	MaxNPDU uint16
}

const statusSize = 6

// Append writes the payload.
func (s Status) Append(b []byte) []byte {
	var direct byte
	if s.Direct {
		direct = 1
	}
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(append(b, s.Hub, direct), s.MaxBVLC), s.MaxNPDU)
}

// ParseStatus reads the payload.
func ParseStatus(p []byte) (Status, error) {
	if len(p) != statusSize || p[0] > 2 || p[1] > 1 {
		return Status{}, fmt.Errorf("advertisement: %w", ErrPayload)
	}
	return Status{p[0], p[1] == 1, binary.BigEndian.Uint16(p[2:]), binary.BigEndian.Uint16(p[4:])}, nil
}
