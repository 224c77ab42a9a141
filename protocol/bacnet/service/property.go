package service

import (
	"fmt"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// ReadPropertyRequest asks for a property (clause 15.5).
type ReadPropertyRequest struct {
	Object   encoding.ObjectID
	Property enum.Property
	Index    constructed.Index
}

// Append writes the request.
func (r ReadPropertyRequest) Append(b []byte) []byte {
	b = encoding.AppendEnumerated(encoding.AppendObjectID(b, 0, r.Object), 1, uint32(r.Property))
	return r.Index.Append(b, 2)
}

func readTarget(d *encoding.Decoder) ReadPropertyRequest {
	return ReadPropertyRequest{d.ObjectID(0), enum.Property(d.Enumerated(1)), constructed.ReadIndex(d, 2)}
}

// DecodeReadPropertyRequest reads the request.
func DecodeReadPropertyRequest(p []byte) (ReadPropertyRequest, error) {
	d := encoding.NewDecoder(p)
	r := readTarget(d)
	return r, d.End()
}

// ReadPropertyAck is a property's value (clause 15.5.1.2). AddListElement and RemoveListElement
// (clause 14.1, 14.2) have the same form.
type ReadPropertyAck struct {
	ReadPropertyRequest

	Value encoding.Any
}

// Append writes the answer.
func (a ReadPropertyAck) Append(b []byte) []byte {
	return encoding.AppendAny(a.ReadPropertyRequest.Append(b), 3, a.Value)
}

// DecodeReadPropertyAck reads the answer.
func DecodeReadPropertyAck(p []byte) (ReadPropertyAck, error) {
	d := encoding.NewDecoder(p)
	a := ReadPropertyAck{readTarget(d), d.Any(3)}
	return a, d.End()
}

// WritePropertyRequest writes a property (clause 15.9).
type WritePropertyRequest struct {
	ReadPropertyRequest

	Value    encoding.Any // null relinquishes the command at the priority
	Priority uint8        // 1 highest – 16; 0: none, which counts as 16
}

// Append writes the request.
func (r WritePropertyRequest) Append(b []byte) []byte {
	b = encoding.AppendAny(r.ReadPropertyRequest.Append(b), 3, r.Value)
	return appendPriority(b, 4, r.Priority)
}

// DecodeWritePropertyRequest reads the request.
func DecodeWritePropertyRequest(p []byte) (WritePropertyRequest, error) {
	d := encoding.NewDecoder(p)
	r := WritePropertyRequest{readTarget(d), d.Any(3), readPriority(d, 4)}
	return r, d.End()
}

func appendPriority(b []byte, tag int, priority uint8) []byte {
	if priority == 0 {
		return b
	}
	return encoding.AppendUnsigned(b, tag, uint64(priority))
}

func readPriority(d *encoding.Decoder, tag int) uint8 {
	if !d.Has(tag) {
		return 0
	}
	n := d.Unsigned(tag)
	if d.Err() == nil && (n < 1 || n > constructed.Priorities) {
		d.Fail(fmt.Errorf("%w: %d, it must be 1 to 16", ErrPriority, n))
	}
	return uint8(n)
}
