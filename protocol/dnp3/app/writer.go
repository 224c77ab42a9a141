package app

import (
	"encoding/binary"
	"errors"

	"voltbus/protocol/dnp3/object"
)

// Errors of [Writer], beside those of package object. After any error the fragment is
// as it was before the call.
var (
	// ErrFull says that the rest of the buffer is too small.
	ErrFull = errors.New("fragment full")
	// ErrVariation says that the variation is unknown or not written by this method.
	ErrVariation = errors.New("variation not allowed here")
)

// Writer builds one fragment in a buffer whose capacity it never exceeds. The zero
// value is of no use; NewRequest and NewResponse start one. Writer keeps points in
// the order they are written and joins neighbors under one object header where it
// can. Not for concurrent use.
type Writer struct {
	headers

	common object.Timestamp
}

// NewRequest starts a request in buf, whose capacity, at least 2 octets, bounds
// the fragment. What buf holds is overwritten.
func NewRequest(buf []byte, c Control, f Function) Writer {
	return Writer{headers: headers{buf: append(buf[:0], byte(c), byte(f))}}
}

// NewResponse starts a response in buf, whose capacity, at least 4 octets, bounds
// the fragment. The function is FuncResponse or FuncUnsolicitedResponse.
func NewResponse(buf []byte, c Control, f Function, iin IIN) Writer {
	return Writer{headers: headers{buf: binary.LittleEndian.AppendUint16(append(buf[:0], byte(c), byte(f)), uint16(iin))}}
}

// Bytes returns the fragment built so far, in the memory of the buffer.
func (w *Writer) Bytes() []byte { return w.buf }

// Narrow makes index prefixes one octet wide where the index allows (qualifier
// 0x17), instead of two (0x28), which every outstation accepts.
func (w *Writer) Narrow() { w.narrow = true }

// SetControl replaces the control octet, for a fragment that turns out to be final
// or to need a confirmation.
func (w *Writer) SetControl(c Control) { w.buf[0] = byte(c) }

// SetIIN replaces the internal indications of a response, which may depend on what
// was written.
func (w *Writer) SetIIN(iin IIN) { binary.LittleEndian.PutUint16(w.buf[2:], uint16(iin)) }
