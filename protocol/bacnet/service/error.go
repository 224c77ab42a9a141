package service

import (
	"fmt"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Error is the answer of a device that did not do what it was asked for (clause 18).
type Error struct {
	Class enum.ErrorClass
	Code  enum.ErrorCode
}

// Error returns class and code by their names.
func (e Error) Error() string {
	return fmt.Sprintf("the device answered with the error %v (%v)", e.Code, e.Class)
}

// Append writes the error.
func (e Error) Append(b []byte) []byte {
	return encoding.AppendEnumerated(encoding.AppendEnumerated(b, encoding.App, uint32(e.Class)), encoding.App, uint32(e.Code))
}

func readError(d *encoding.Decoder) Error {
	return Error{enum.ErrorClass(d.Enumerated(encoding.App)), enum.ErrorCode(d.Enumerated(encoding.App))}
}

// DecodeError reads the parameters of an Error APDU. Some services put the error between tags
// and add what failed first: only the error is read then.
func DecodeError(p []byte) (Error, error) {
	d := encoding.NewDecoder(p)
	if !d.HasOpening(0) {
		e := readError(d)
		return e, d.End()
	}
	d.Opening(0)
	e := readError(d)
	d.Closing(0)
	d.Rest()
	return e, d.End()
}

// WriteMultipleError is the answer to a WritePropertyMultiple of which a part failed (clause
// 15.10.2): all before First was written.
type WriteMultipleError struct {
	Cause Error
	First constructed.ObjectPropertyReference
}

// Error returns the error and what was not written.
func (e WriteMultipleError) Error() string {
	return fmt.Sprintf("write %v %v: %v", e.First.Object, e.First.Property, e.Cause)
}

// Append writes the error.
func (e WriteMultipleError) Append(b []byte) []byte {
	b = encoding.AppendAny(b, 0, e.Cause.Append(nil))
	return encoding.AppendAny(b, 1, e.First.Append(nil))
}

// DecodeWriteMultipleError reads the error.
func DecodeWriteMultipleError(p []byte) (WriteMultipleError, error) {
	var e WriteMultipleError
	d := encoding.NewDecoder(p)
	d.Opening(0)
	e.Cause = readError(d)
	d.Closing(0)
	d.Opening(1)
	e.First = constructed.ReadObjectPropertyReference(d)
	d.Closing(1)
	return e, d.End()
}
