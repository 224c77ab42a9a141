package packet

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// reader takes fields from the body of a packet. After the first error it returns zeros, so that
// only the last step has to look at it.
type reader struct {
	body []byte
	err  error
	of   Type
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.body = nil
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.body) {
		r.fail(malformed("§2.1.4", "%s ends within a field", r.of))
		return nil
	}
	field := r.body[:n:n]
	r.body = r.body[n:]
	return field
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// variable reads a variable byte integer in its shortest form [MQTT-1.5.5-1].
func (r *reader) variable() uint32 {
	v, size := variable(r.body)
	switch {
	case r.err != nil:
	case size < 0:
		r.fail(malformed("§1.5.5", "a variable byte integer of the %s has more than 4 bytes", r.of))
	case size == 0:
		r.take(len(r.body) + 1)
	case size != variableSize(v):
		r.fail(malformed("MQTT-1.5.5-1", "a variable byte integer of the %s takes more bytes than it needs", r.of))
	default:
		r.take(size)
		return v
	}
	return 0
}

// binary reads binary data (§1.5.6). It is not nil, even if empty, unless something failed.
func (r *reader) binary() []byte { return r.take(int(r.uint16())) }

// text reads a UTF-8 encoded string (§1.5.4).
func (r *reader) text() []byte {
	s := r.binary()
	switch {
	case !utf8.Valid(s):
		r.fail(malformed("MQTT-1.5.4-1", "a text of the %s is not UTF-8", r.of))
	case bytes.IndexByte(s, 0) >= 0:
		r.fail(malformed("MQTT-1.5.4-2", "a text of the %s has the null character", r.of))
	default:
		return s
	}
	return nil
}

// identifier reads a packet identifier, which is not 0.
func (r *reader) identifier() uint16 {
	id := r.uint16()
	if id == 0 {
		r.fail(malformed("MQTT-2.2.1-3", "packet identifier of the %s is 0", r.of))
	}
	return id
}

// end returns the first error, or one if something is left.
func (r *reader) end() error {
	if r.err == nil && len(r.body) > 0 {
		return malformed("§2.1.4", "%s has %d bytes behind its last field", r.of, len(r.body))
	}
	return r.err
}

func appendField[T ~string | ~[]byte](b []byte, field T) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(field)))
	return append(b, field...)
}

// fits reports whether all fields can be written with their length in two bytes.
func fits(fields ...[]byte) bool {
	for _, f := range fields {
		if len(f) > 65_535 {
			return false
		}
	}
	return true
}
