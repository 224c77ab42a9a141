package app

import (
	"encoding/binary"
	"iter"
)

// Sizes of the head of a fragment in octets.
const (
	requestHead  = 2
	responseHead = 4
)

// Fragment is a fragment whose head has been read. Its objects are read, and
// errors in them found, by [Fragment.Headers].
type Fragment struct {
	Control  Control
	Function Function
	// IIN holds the internal indications of a response, 0 in a request.
	IIN IIN
	// Objects are the octets behind the head: object headers and objects. They
	// share the memory of the octets parsed.
	Objects []byte
}

// Parse reads the head of a fragment. Errors are *[ParseError]: [Truncated] when
// the head is incomplete, [UnknownFunction] with Control and Function set
// so that an outstation can answer.
func Parse(p []byte) (Fragment, error) {
	if len(p) < requestHead {
		return Fragment{}, &ParseError{Reason: Truncated, Need: requestHead, Have: uint64(len(p))}
	}
	f := Fragment{Control: Control(p[0]), Function: Function(p[1]), Objects: p[requestHead:]}
	if !f.Function.Known() {
		return f, &ParseError{Reason: UnknownFunction, Octet: 1}
	}
	if !f.Function.Response() {
		return f, nil
	}
	if len(p) < responseHead {
		return f, &ParseError{
			Reason: Truncated, Octet: requestHead, Need: responseHead - requestHead, Have: uint64(len(p) - requestHead),
		}
	}
	f.IIN = IIN(binary.LittleEndian.Uint16(p[requestHead:]))
	f.Objects = p[responseHead:]
	return f, nil
}

// Headers yields the object headers in order. On the first error it yields that
// error, a *[ParseError], with a zero header, and stops: what follows an unreadable
// header cannot be found. The length of every header's objects is checked before
// it is yielded.
func (f Fragment) Headers() iter.Seq2[Header, error] {
	return func(yield func(Header, error) bool) {
		r := reader{function: f.Function, rest: f.Objects, at: f.head()}
		for len(r.rest) > 0 {
			if err := r.next(); err != nil {
				yield(Header{}, err)
				return
			}
			if !yield(r.Header, nil) {
				return
			}
		}
	}
}

// Check reads all object headers and returns the first error, nil if there is
// none. A receiver that must not act on half a message calls it first.
func (f Fragment) Check() error {
	r := reader{function: f.Function, rest: f.Objects, at: f.head()}
	for len(r.rest) > 0 {
		if err := r.next(); err != nil {
			return err
		}
	}
	return nil
}

// head returns the size of the fragment's head.
func (f Fragment) head() int {
	if f.Function.Response() {
		return responseHead
	}
	return requestHead
}
