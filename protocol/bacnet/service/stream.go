package service

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
)

// AppendAck writes the answer to the request, with the value that the function appends, which is App-tagged as in
// [ReadPropertyAck]. After an error of the function nothing is returned but that.
func (r ReadPropertyRequest) AppendAck(b []byte, value func([]byte) ([]byte, error)) ([]byte, error) {
	b, err := value(encoding.AppendOpening(r.Append(b), 3))
	if err != nil {
		return nil, err
	}
	return encoding.AppendClosing(b, 3), nil
}

// EachRead steps through a ReadPropertyMultiple request (clause 15.7): it calls object for each object, and then property for each of
// the properties that are asked of it. It ends with their first error, or with that of a malformed request.
func EachRead(p []byte, object func(encoding.ObjectID) error, property func(constructed.PropertyReference) error) error {
	d := encoding.NewDecoder(p)
	for d.More() {
		id := d.ObjectID(0)
		d.Opening(1)
		if d.Err() != nil {
			break
		}
		if err := object(id); err != nil {
			return err
		}
		for d.More() {
			ref := constructed.ReadPropertyReference(d)
			if d.Err() != nil {
				break
			}
			if err := property(ref); err != nil {
				return err
			}
		}
		d.Closing(1)
	}
	return d.End()
}

// MultipleAnswer writes a [ReadMultipleAck] piece by piece.
type MultipleAnswer struct {
	b    []byte
	open bool // an object is begun
}

// NewMultipleAnswer returns an answer that is written behind b.
func NewMultipleAnswer(b []byte) *MultipleAnswer { return &MultipleAnswer{b: b} }

// Len returns how many bytes are written.
func (a *MultipleAnswer) Len() int { return len(a.b) }

// Object begins the next object.
func (a *MultipleAnswer) Object(id encoding.ObjectID) {
	a.close()
	a.b = encoding.AppendOpening(encoding.AppendObjectID(a.b, 0, id), 1)
	a.open = true
}

// Property writes a property of the object with the value that the function appends, or with its error, which problem puts into the
// standard's words.
func (a *MultipleAnswer) Property(ref constructed.PropertyReference, value func([]byte) ([]byte, error), problem func(error) Error) {
	a.b = ref.Index.Append(encoding.AppendEnumerated(a.b, 2, uint32(ref.Property)), 3)
	at := len(a.b)
	b, err := value(encoding.AppendOpening(a.b, 4))
	if err != nil {
		b = encoding.AppendOpening(a.b[:at], 5)
		a.b = encoding.AppendClosing(problem(err).Append(b), 5)
		return
	}
	a.b = encoding.AppendClosing(b, 4)
}

// Bytes ends the answer and returns it.
func (a *MultipleAnswer) Bytes() []byte {
	a.close()
	return a.b
}

func (a *MultipleAnswer) close() {
	if a.open {
		a.b = encoding.AppendClosing(a.b, 1)
		a.open = false
	}
}
