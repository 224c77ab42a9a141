package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// App stands, in place of a context tag's number, for the application tag of the type.
const App = -1

// MaxDepth is how deep opening tags may be nested. The services of the standard need less
// than eight.
const MaxDepth = 16

// Application tag numbers (clause 20.2.1.4).
const (
	tagNull = iota
	tagBoolean
	tagUnsigned
	tagSigned
	tagReal
	tagDouble
	tagOctetString
	tagCharacterString
	tagBitString
	tagEnumerated
	tagDate
	tagTime
	tagObjectID
)

// Form says what a tag introduces.
type Form uint8

// The forms of a tag (clause 20.2.1.3).
const (
	Primitive Form = iota
	Opening
	Closing
)

// Tag is the head of an element (clause 20.2.1).
type Tag struct {
	Number  uint8
	Context bool // context specific, otherwise an application tag
	Form    Form
	Length  uint32 // octets of content; the value itself for an application boolean
}

// Errors of malformed data, wrapped with the offset.
var (
	ErrTruncated = errors.New("the data ends too early")
	ErrTag       = errors.New("unexpected tag")
	ErrLength    = errors.New("wrong length of a value")
	ErrDepth     = errors.New("constructed data is nested too deep")
	ErrTrailing  = errors.New("data follows the end of the message")
)

const (
	contextBit   = 0x08
	extended     = 0xF // number in the next octet
	longLength   = 5   // length in the next octets
	openingType  = 6
	closingType  = 7
	length16Mark = 254
	length32Mark = 255
)

// ParseTag reads the tag at the start of p and returns how many octets it took.
func ParseTag(p []byte) (Tag, int, error) {
	if len(p) == 0 {
		return Tag{}, 0, ErrTruncated
	}
	first, n := p[0], 1
	t := Tag{Number: first >> 4, Context: first&contextBit != 0}
	if t.Number == extended {
		if len(p) < 2 {
			return Tag{}, 0, ErrTruncated
		}
		if t.Number, n = p[1], 2; t.Number == 0xFF {
			return Tag{}, 0, fmt.Errorf("%w: number 255 is reserved", ErrTag)
		}
	}
	switch low := first & 7; {
	case t.Context && low == openingType:
		t.Form = Opening
	case t.Context && low == closingType:
		t.Form = Closing
	case low < longLength:
		t.Length = uint32(low)
	case low == longLength:
		more, err := t.parseLength(p[n:])
		return t, n + more, err
	default:
		return Tag{}, 0, fmt.Errorf("%w: first octet %#02x", ErrTag, first)
	}
	return t, n, nil
}

// parseLength reads a length of five or more (clause 20.2.1.3.1).
func (t *Tag) parseLength(p []byte) (int, error) {
	switch {
	case len(p) >= 1 && p[0] < length16Mark:
		t.Length = uint32(p[0])
		return 1, nil
	case len(p) >= 3 && p[0] == length16Mark:
		t.Length = uint32(binary.BigEndian.Uint16(p[1:]))
		return 3, nil
	case len(p) >= 5 && p[0] == length32Mark:
		t.Length = binary.BigEndian.Uint32(p[1:])
		return 5, nil
	}
	return 0, ErrTruncated
}

// content returns how many octets follow the tag itself.
func (t Tag) content() uint32 {
	if t.Form != Primitive || !t.Context && t.Number == tagBoolean {
		return 0
	}
	return t.Length
}

// String describes the tag as messages of errors need it.
func (t Tag) String() string {
	class := "application tag"
	if t.Context {
		class = "context tag"
	}
	switch t.Form {
	case Opening:
		class = "opening tag"
	case Closing:
		class = "closing tag"
	case Primitive:
	}
	return fmt.Sprintf("%s %d", class, t.Number)
}

// AppendOpening writes the opening tag of constructed data.
func AppendOpening(b []byte, tag int) []byte { return appendMark(b, tag, openingType) }

// AppendClosing writes the closing tag of constructed data.
func AppendClosing(b []byte, tag int) []byte { return appendMark(b, tag, closingType) }

func appendMark(b []byte, tag int, mark byte) []byte {
	if tag < extended {
		return append(b, byte(tag)<<4|contextBit|mark)
	}
	return append(b, extended<<4|contextBit|mark, byte(tag))
}

// appendTag writes the tag of a primitive with length octets of content: the context tag, or
// the application tag for App.
func appendTag(b []byte, tag, application int, length uint32) []byte {
	class := byte(0)
	number := application
	if tag >= 0 {
		number, class = tag, contextBit
	}
	low := byte(longLength)
	if length < longLength {
		low = byte(length)
	}
	if number < extended {
		b = append(b, byte(number)<<4|class|low)
	} else {
		b = append(b, extended<<4|class|low, byte(number))
	}
	switch {
	case length < longLength:
		return b
	case length < length16Mark:
		return append(b, byte(length))
	case length <= 0xFFFF:
		return append(b, length16Mark, byte(length>>8), byte(length))
	}
	return binary.BigEndian.AppendUint32(append(b, length32Mark), length)
}
