// Package measure walks through an encoded message of OPC UA (OPC 10000-6, clause 5.2) without decoding it, and says whether it is whole
// and how much memory its decoded form takes. The decoder of github.com/gopcua/opcua believes the lengths of arrays and follows
// nested values as deep as they go, so that a few bytes of a hostile server could end the process; what passes here cannot.
//
//   - measure.go walks by the Go types that the decoder fills, builtin.go knows the types that decode themselves.
package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/gopcua/opcua/ua"
)

// Limits of a message.
const (
	// Memory is how much a decoded message may take, about, in bytes.
	Memory = 128 << 20
	// Depth is how deep values may be nested (Part 6, clause 5.2.2.12, asks for at least 100).
	Depth = 100
	// Dimensions is how many an array may have.
	Dimensions = 16
)

// The reasons why a message is refused, besides io.ErrUnexpectedEOF for one that is cut.
var (
	ErrMemory     = fmt.Errorf("it would take more than %d MiB of memory", Memory>>20)
	ErrDepth      = fmt.Errorf("its values are nested deeper than %d", Depth)
	ErrLength     = fmt.Errorf("an array has more than %d elements", ua.MaxVariantArrayLength)
	ErrDimensions = errors.New("the dimensions of an array do not make its length")
	ErrType       = errors.New("it has a type that OPC UA does not have")
	ErrNoResponse = errors.New("it is no response of a service")
)

// Response checks a message: the identifier of a response, and the response. It returns how many bytes it has, and about how many its
// decoded form takes.
func Response(message []byte) (size, memory int, err error) {
	w := &walker{b: message}
	if err := w.expandedNodeID(); err != nil {
		return w.pos, w.memory, err
	}
	// The decoder gives the type of an identifier before it finds that the rest is missing.
	_, v, err := ua.DecodeService(message[:w.pos:w.pos])
	if _, is := v.(ua.Response); !is {
		return w.pos, w.memory, errors.Join(ErrNoResponse, ignoreEnd(err))
	}
	err = w.value(reflect.TypeOf(v), 0)
	return w.pos, w.memory, err
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// walker is a position in a message.
type walker struct {
	b      []byte
	pos    int
	memory int
}

// skip passes n bytes.
func (w *walker) skip(n int) error {
	if n < 0 || n > len(w.b)-w.pos {
		return io.ErrUnexpectedEOF
	}
	w.pos += n
	return nil
}

// takes counts n things of a size that the decoder makes.
func (w *walker) takes(n int, size uintptr) error {
	if w.memory += n * int(size); w.memory > Memory { //nolint:gosec // n is at most the length of the message, and sizes are those of types
		return ErrMemory
	}
	return nil
}

func (w *walker) octet() (byte, error) {
	if err := w.skip(1); err != nil {
		return 0, err
	}
	return w.b[w.pos-1], nil
}

func (w *walker) number() (uint32, error) {
	if err := w.skip(4); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(w.b[w.pos-4:]), nil
}

// null is the length of what is not there.
const null = 0xFFFF_FFFF

// bytes passes a string or a string of bytes. Strings are copied by the decoder.
func (w *walker) bytes() error {
	n, err := w.number()
	if err != nil || n == null {
		return err
	}
	if int64(n) > int64(len(w.b)-w.pos) {
		return io.ErrUnexpectedEOF
	}
	if err := w.skip(int(n)); err != nil {
		return err
	}
	return w.takes(int(n), 1)
}

// value passes what a Go type of the decoder's is decoded from.
func (w *walker) value(t reflect.Type, depth int) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		if err := w.takes(1, t.Size()); err != nil {
			return err
		}
	}
	if own, is := builtin[t]; is {
		return own(w, depth)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32, reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64:
		return w.skip(int(t.Size())) //nolint:gosec // at most 8
	case reflect.String:
		return w.bytes()
	case reflect.Slice:
		return w.list(t.Elem(), depth)
	case reflect.Struct:
		return w.fields(t, depth)
	default:
		return fmt.Errorf("%w: %v", ErrType, t)
	}
}

func (w *walker) fields(t reflect.Type, depth int) error {
	for field := range t.Fields() {
		if err := w.value(field.Type, depth); err != nil {
			return err
		}
	}
	return nil
}

// list passes an array: each element has a byte at least, so that one that is longer than what is left is refused at once.
func (w *walker) list(element reflect.Type, depth int) error {
	if element.Kind() == reflect.Uint8 {
		return w.bytes()
	}
	n, err := w.number()
	if err != nil || n == null {
		return err
	}
	if int64(n) > int64(len(w.b)-w.pos) {
		return io.ErrUnexpectedEOF
	}
	if err := w.takes(int(n), element.Size()); err != nil {
		return err
	}
	for range n {
		if err := w.value(element, depth); err != nil {
			return err
		}
	}
	return nil
}
