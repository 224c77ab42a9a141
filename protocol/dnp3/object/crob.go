package object

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// CROBSize is the size of a control block in octets.
const CROBSize = 11

// ControlCode is the first octet of a control block (Annex A, g12v1).
//
//	bits 7–6           bit 5   bit 4   bits 3–0
//	trip-close code    clear   queue   operation
type ControlCode uint8

// Operations, bits 3–0.
const (
	OpNul      ControlCode = 0
	OpPulseOn  ControlCode = 1
	OpPulseOff ControlCode = 2
	OpLatchOn  ControlCode = 3
	OpLatchOff ControlCode = 4

	operationMask ControlCode = 0x0F
)

// Flags and trip-close codes, to be joined with an operation.
const (
	// OpQueue puts the operation behind running ones; obsolete.
	OpQueue ControlCode = 0x10
	// OpClear cancels running and queued operations of the point.
	OpClear ControlCode = 0x20
	// OpClose selects the close output of a pair.
	OpClose ControlCode = 0x40
	// OpTrip selects the trip output of a pair.
	OpTrip ControlCode = 0x80
)

// Operation returns the operation without flags and trip-close code.
func (c ControlCode) Operation() ControlCode { return c & operationMask }

// TripClose returns OpTrip, OpClose, both (reserved) or 0.
func (c ControlCode) TripClose() ControlCode { return c & (OpTrip | OpClose) }

// On reports whether the operation switches on or closes: LATCH_ON, or a pulse that is
// neither one off nor one of the trip output.
func (c ControlCode) On() bool {
	switch c.Operation() {
	case OpLatchOn:
		return true
	case OpPulseOn:
		return c.TripClose() != OpTrip
	default:
		return false
	}
}

// String returns the parts by name.
func (c ControlCode) String() string {
	names := [...]string{"NUL", "PULSE_ON", "PULSE_OFF", "LATCH_ON", "LATCH_OFF"}
	text := fmt.Sprintf("operation %d", c.Operation())
	if int(c.Operation()) < len(names) {
		text = names[c.Operation()]
	}
	text += [4]string{"", "|CLOSE", "|TRIP", "|TCC_RESERVED"}[c>>6]
	if c&OpClear != 0 {
		text += "|CLEAR"
	}
	if c&OpQueue != 0 {
		text += "|QUEUE"
	}
	return text
}

// CROB is a control relay output block (g12v1), or a pattern control block
// (g12v2), which has the same fields.
type CROB struct {
	Code ControlCode
	// Count is how often the operation is done, 0–255; 0 means not at all.
	Count uint8
	// OnTime and OffTime are the pulse times, 0 to 2^32-1 ms in whole
	// milliseconds. Encoding cuts fractions and limits to that range.
	OnTime, OffTime time.Duration
	// Status is 0 in a request.
	Status Status
}

// CROB returns the control block of an object of g12v1 or g12v2; ok is false for
// any other object.
func (o Raw) CROB() (block CROB, ok bool) {
	if o.Variation != G12V1 && o.Variation != G12V2 || len(o.Data) != CROBSize {
		return CROB{}, false
	}
	p := o.Data
	return CROB{
		Code:    ControlCode(p[0]),
		Count:   p[1],
		OnTime:  time.Duration(binary.LittleEndian.Uint32(p[2:])) * time.Millisecond,
		OffTime: time.Duration(binary.LittleEndian.Uint32(p[6:])) * time.Millisecond,
		Status:  Status(p[10] & 0x7F),
	}, true
}

// Append appends the eleven octets of the block.
func (c CROB) Append(dst []byte) []byte {
	dst = append(dst, byte(c.Code), c.Count)
	dst = binary.LittleEndian.AppendUint32(dst, Milliseconds(c.OnTime))
	dst = binary.LittleEndian.AppendUint32(dst, Milliseconds(c.OffTime))
	return append(dst, byte(c.Status))
}

// Milliseconds returns d in whole milliseconds, limited to 0–2^32-1.
func Milliseconds(d time.Duration) uint32 {
	return uint32(min(max(d.Milliseconds(), 0), math.MaxUint32))
}
