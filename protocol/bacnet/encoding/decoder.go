package encoding

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Decoder reads elements one after the other. After the first error every read returns a zero
// value; End and Err tell of it. It does not copy: octets that it returns belong to the data.
type Decoder struct{ Cursor }

// NewDecoder reads data from its start.
func NewDecoder(data []byte) *Decoder { return &Decoder{Cursor{data: data}} }

// Null reads a null.
func (d *Decoder) Null(tag int) { d.sized(tag, tagNull, 0, 0) }

// Boolean reads a boolean.
func (d *Decoder) Boolean(tag int) bool {
	if tag >= 0 {
		return d.sized(tag, tagBoolean, 1, 1)[0] != 0
	}
	t, _ := d.primitive(App, tagBoolean)
	if t.Length > 1 {
		d.fail(fmt.Errorf("%w: a boolean of %d", ErrLength, t.Length))
	}
	return t.Length == 1
}

// Unsigned reads an unsigned integer of up to eight octets.
func (d *Decoder) Unsigned(tag int) uint64 { return toUint(d.sized(tag, tagUnsigned, 1, 8)) }

// Uint32 reads an unsigned integer that must fit 32 bits.
func (d *Decoder) Uint32(tag int) uint32 { return d.fit32(d.Unsigned(tag)) }

// Enumerated reads an enumerated value.
func (d *Decoder) Enumerated(tag int) uint32 {
	return d.fit32(toUint(d.sized(tag, tagEnumerated, 1, 8)))
}

func (d *Decoder) fit32(n uint64) uint32 {
	if n > math.MaxUint32 {
		d.fail(fmt.Errorf("%w: %d is above 4294967295", ErrLength, n))
		return 0
	}
	return uint32(n)
}

// Signed reads a signed integer of up to eight octets.
func (d *Decoder) Signed(tag int) int64 { return toInt(d.sized(tag, tagSigned, 1, 8)) }

// Real reads a real of four octets.
func (d *Decoder) Real(tag int) float32 {
	return math.Float32frombits(binary.BigEndian.Uint32(d.sized(tag, tagReal, 4, 4)))
}

// Double reads a real of eight octets.
func (d *Decoder) Double(tag int) float64 {
	return math.Float64frombits(binary.BigEndian.Uint64(d.sized(tag, tagDouble, 8, 8)))
}

// Octets reads an octet string.
func (d *Decoder) Octets(tag int) []byte {
	_, content := d.primitive(tag, tagOctetString)
	return content
}

// Text reads a character string of any character set, as UTF-8.
func (d *Decoder) Text(tag int) string {
	_, content := d.primitive(tag, tagCharacterString)
	if d.err != nil {
		return ""
	}
	text, err := decodeText(content)
	if err != nil {
		d.fail(err)
	}
	return text
}

// Bits reads a bit string.
func (d *Decoder) Bits(tag int) BitString {
	content := d.sized(tag, tagBitString, 1, math.MaxInt)
	if content[0] > 7 || content[0] > 0 && len(content) == 1 {
		d.fail(fmt.Errorf("%w: a bit string with %d unused bits", ErrLength, content[0]))
		return BitString{}
	}
	return BitString{octets: string(content[1:]), unused: content[0]}
}

// Date reads a date.
func (d *Decoder) Date(tag int) Date {
	p := d.sized(tag, tagDate, 4, 4)
	return Date{p[0], p[1], p[2], p[3]}
}

// Time reads a time of day.
func (d *Decoder) Time(tag int) Time {
	p := d.sized(tag, tagTime, 4, 4)
	return Time{p[0], p[1], p[2], p[3]}
}

// ObjectID reads an object identifier.
func (d *Decoder) ObjectID(tag int) ObjectID {
	return unpackObjectID(binary.BigEndian.Uint32(d.sized(tag, tagObjectID, 4, 4)))
}

// DateTime reads a date and a time, for App without tags around them.
func (d *Decoder) DateTime(tag int) DateTime {
	if tag == App {
		return DateTime{d.Date(App), d.Time(App)}
	}
	d.Opening(tag)
	v := d.DateTime(App)
	d.Closing(tag)
	return v
}

func toUint(p []byte) uint64 {
	n := uint64(0)
	for _, c := range p {
		n = n<<8 | uint64(c)
	}
	return n
}

func toInt(p []byte) int64 {
	n := int64(int8(p[0]))
	for _, c := range p[1:] {
		n = n<<8 | int64(c)
	}
	return n
}
