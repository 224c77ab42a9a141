package packet

import "fmt"

// Version is the protocol level of a CONNECT.
type Version byte

// The versions that exist and are spoken here.
const (
	V311 Version = 4
	V5   Version = 5
)

// Type is the type of a control packet (§2.1.2).
type Type byte

// The control packets, written as the standard does.
const (
	CONNECT     Type = 1
	CONNACK     Type = 2
	PUBLISH     Type = 3
	PUBACK      Type = 4
	PUBREC      Type = 5
	PUBREL      Type = 6
	PUBCOMP     Type = 7
	SUBSCRIBE   Type = 8
	SUBACK      Type = 9
	UNSUBSCRIBE Type = 10
	UNSUBACK    Type = 11
	PINGREQ     Type = 12
	PINGRESP    Type = 13
	DISCONNECT  Type = 14
	AUTH        Type = 15
)

var typeNames = [16]string{
	"", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBSCRIBE", "SUBACK",
	"UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH",
}

// String returns the name of the type.
func (t Type) String() string {
	if int(t) < len(typeNames) && t > 0 {
		return typeNames[t]
	}
	return fmt.Sprintf("packet type %d", byte(t))
}

// flags returns what the lower half of the first byte must be; PUBLISH is not asked.
func (t Type) flags() byte {
	switch t {
	case PUBREL, SUBSCRIBE, UNSUBSCRIBE:
		return 0b0010
	default:
		return 0
	}
}

// maxRemaining is the largest variable byte integer (§1.5.5).
const maxRemaining = 268_435_455

// Frame is a control packet whose header has been read. Body belongs to the stream it came from.
type Frame struct {
	Type  Type
	Flags byte
	Body  []byte

	padded bool // the remaining length is written in more bytes than it needs
}

// Split returns the first packet of a stream and how many bytes it takes. Without an error, 0
// bytes mean that more is needed. A packet of more than limit bytes, header included, is refused
// as soon as its header is seen; 0 is as large as MQTT allows.
func Split(stream []byte, limit int) (f Frame, n int, err error) {
	if len(stream) == 0 {
		return Frame{}, 0, nil
	}
	f.Type, f.Flags = Type(stream[0]>>4), stream[0]&0x0F
	if f.Type == 0 {
		return Frame{}, 0, malformed("§2.1.2", "packet type 0 is reserved")
	}
	if f.Type != PUBLISH && f.Flags != f.Type.flags() {
		return Frame{}, 0, malformed("MQTT-2.1.3-1", "flags of a %s are %04b, want %04b", f.Type, f.Flags, f.Type.flags())
	}
	length, size := variable(stream[1:])
	switch {
	case size < 0:
		return Frame{}, 0, malformed("§1.5.5", "remaining length has more than 4 bytes")
	case size == 0:
		return Frame{}, 0, nil
	}
	n = 1 + size + int(length)
	if limit > 0 && n > limit {
		return Frame{}, 0, &Error{PacketTooLarge, "§3.2.2.3.6", fmt.Sprintf("%s has %d bytes, more than the %d allowed here", f.Type, n, limit)}
	}
	if n > len(stream) {
		return Frame{}, 0, nil
	}
	f.Body = stream[1+size : n : n]
	f.padded = size != variableSize(length)
	return f, n, nil
}

// Stream cuts what arrives in pieces into packets. It keeps bytes only while a packet is
// incomplete, so that an idle connection has no buffer. The zero value is ready.
type Stream struct {
	// Limit is the size of the largest packet, see [Split].
	Limit int
	rest  []byte
}

// Pending returns how many bytes of an incomplete packet are kept.
func (s *Stream) Pending() int { return len(s.rest) }

// Feed calls handle with every packet that data completes, until it returns an error. Frames are
// valid only during the call. After an error the stream is of no more use.
func (s *Stream) Feed(data []byte, handle func(Frame) error) error {
	for len(s.rest) > 0 { // finish the packet that was begun, with no more than it lacks
		need, err := s.missing()
		if err != nil {
			return err
		}
		take := min(need, len(data))
		if take == 0 {
			return nil
		}
		s.rest = append(s.rest, data[:take]...)
		data = data[take:]
		f, n, err := Split(s.rest, s.Limit)
		if err != nil {
			return err
		}
		if n > 0 {
			s.rest = nil
			if err := handle(f); err != nil {
				return err
			}
		}
	}
	for {
		f, n, err := Split(data, s.Limit)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		data = data[n:]
		if err := handle(f); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		s.rest = append(make([]byte, 0, max(len(data), 64)), data...)
	}
	return nil
}

// missing returns how many bytes are certain to belong to the packet that was begun. The header
// is taken byte by byte.
func (s *Stream) missing() (int, error) {
	length, size := variable(s.rest[1:])
	if size < 0 {
		return 0, malformed("§1.5.5", "remaining length has more than 4 bytes")
	}
	if size == 0 {
		return 1, nil
	}
	return 1 + size + int(length) - len(s.rest), nil
}

// variable reads a variable byte integer. Its size is 0 if there are too few bytes and -1 if it
// has more than 4.
func variable(b []byte) (v uint32, size int) {
	for i := range 4 {
		if i >= len(b) {
			return 0, 0
		}
		v |= uint32(b[i]&0x7F) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, -1
}

func variableSize(v uint32) int {
	switch {
	case v < 1<<7:
		return 1
	case v < 1<<14:
		return 2
	case v < 1<<21:
		return 3
	default:
		return 4
	}
}

func appendVariable(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendHeader appends the fixed header of a packet with a body of size bytes.
func appendHeader(b []byte, t Type, flags byte, size int) ([]byte, error) {
	if size > maxRemaining {
		return b, errTooLarge
	}
	return appendVariable(append(b, byte(t)<<4|flags), uint32(size)), nil
}

// AppendPing appends a PINGREQ or PINGRESP (§3.12, §3.13).
func AppendPing(b []byte, t Type) []byte { return append(b, byte(t)<<4, 0) }
