package service

import (
	"errors"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// ErrPriority says that a priority is not between 1 and 16.
var ErrPriority = errors.New("impossible priority")

// ReadSpecification asks for properties of an object. The properties all, required and optional
// stand for groups of them.
type ReadSpecification struct {
	Object     encoding.ObjectID
	Properties []constructed.PropertyReference
}

// ReadMultipleRequest asks for properties of objects (clause 15.7).
type ReadMultipleRequest []ReadSpecification

// Append writes the request.
func (r ReadMultipleRequest) Append(b []byte) []byte {
	for _, s := range r {
		b = encoding.AppendOpening(encoding.AppendObjectID(b, 0, s.Object), 1)
		for _, p := range s.Properties {
			b = p.Append(b)
		}
		b = encoding.AppendClosing(b, 1)
	}
	return b
}

// DecodeReadMultipleRequest reads the request.
func DecodeReadMultipleRequest(p []byte) (ReadMultipleRequest, error) {
	d := encoding.NewDecoder(p)
	var r ReadMultipleRequest
	for d.More() {
		s := ReadSpecification{Object: d.ObjectID(0)}
		d.Opening(1)
		for d.More() {
			s.Properties = append(s.Properties, constructed.ReadPropertyReference(d))
		}
		d.Closing(1)
		r = append(r, s)
	}
	return r, d.End()
}

// PropertyResult is a property's value or why it was not read.
type PropertyResult struct {
	Property enum.Property
	Index    constructed.Index
	Value    encoding.Any
	Error    *Error // nil: there is a value
}

// ReadResult is the answer for an object.
type ReadResult struct {
	Object     encoding.ObjectID
	Properties []PropertyResult
}

// ReadMultipleAck is the answer with properties of objects (clause 15.7.1.2).
type ReadMultipleAck []ReadResult

// Append writes the answer.
func (a ReadMultipleAck) Append(b []byte) []byte {
	for _, r := range a {
		b = encoding.AppendOpening(encoding.AppendObjectID(b, 0, r.Object), 1)
		for _, p := range r.Properties {
			b = p.append(b)
		}
		b = encoding.AppendClosing(b, 1)
	}
	return b
}

func (p PropertyResult) append(b []byte) []byte {
	b = p.Index.Append(encoding.AppendEnumerated(b, 2, uint32(p.Property)), 3)
	if p.Error != nil {
		return encoding.AppendClosing(p.Error.Append(encoding.AppendOpening(b, 5)), 5)
	}
	return encoding.AppendAny(b, 4, p.Value)
}

func readPropertyResult(d *encoding.Decoder) PropertyResult {
	p := PropertyResult{Property: enum.Property(d.Enumerated(2)), Index: constructed.ReadIndex(d, 3)}
	if !d.HasOpening(5) {
		p.Value = d.Any(4)
		return p
	}
	d.Opening(5)
	e := readError(d)
	p.Error = &e
	d.Closing(5)
	return p
}

// DecodeReadMultipleAck reads the answer.
func DecodeReadMultipleAck(p []byte) (ReadMultipleAck, error) {
	d := encoding.NewDecoder(p)
	var a ReadMultipleAck
	for d.More() {
		r := ReadResult{Object: d.ObjectID(0)}
		d.Opening(1)
		for d.More() {
			r.Properties = append(r.Properties, readPropertyResult(d))
		}
		d.Closing(1)
		a = append(a, r)
	}
	return a, d.End()
}

// PropertyWrite is a property with the value that is written or reported.
type PropertyWrite struct {
	Property enum.Property
	Index    constructed.Index
	Value    encoding.Any
	Priority uint8 // 0: none
}

// Append writes the property.
func (w PropertyWrite) Append(b []byte) []byte {
	b = w.Index.Append(encoding.AppendEnumerated(b, 0, uint32(w.Property)), 1)
	return appendPriority(encoding.AppendAny(b, 2, w.Value), 3, w.Priority)
}

func readPropertyWrite(d *encoding.Decoder) PropertyWrite {
	return PropertyWrite{enum.Property(d.Enumerated(0)), constructed.ReadIndex(d, 1), d.Any(2), readPriority(d, 3)}
}

// WriteSpecification writes properties of an object.
type WriteSpecification struct {
	Object     encoding.ObjectID
	Properties []PropertyWrite
}

// WriteMultipleRequest writes properties of objects, in order, up to the first error (clause
// 15.10).
type WriteMultipleRequest []WriteSpecification

// Append writes the request.
func (r WriteMultipleRequest) Append(b []byte) []byte {
	for _, s := range r {
		b = encoding.AppendOpening(encoding.AppendObjectID(b, 0, s.Object), 1)
		for _, p := range s.Properties {
			b = p.Append(b)
		}
		b = encoding.AppendClosing(b, 1)
	}
	return b
}

// DecodeWriteMultipleRequest reads the request.
func DecodeWriteMultipleRequest(p []byte) (WriteMultipleRequest, error) {
	d := encoding.NewDecoder(p)
	var r WriteMultipleRequest
	for d.More() {
		s := WriteSpecification{Object: d.ObjectID(0)}
		d.Opening(1)
		for d.More() {
			s.Properties = append(s.Properties, readPropertyWrite(d))
		}
		d.Closing(1)
		r = append(r, s)
	}
	return r, d.End()
}
