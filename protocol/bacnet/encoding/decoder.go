package encoding

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Decoder reads elements one after the other. After the first error every read returns a zero
// value; End and Err tell of it. It does not copy: octets that it returns belong to the data.
type Decoder struct {
	data []byte
	at   int
	err  error
}

// NewDecoder reads data from its start.
func NewDecoder(data []byte) *Decoder { return &Decoder{data: data} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// End returns the first error, or ErrTrailing when data is left.
func (d *Decoder) End() error {
	if d.err == nil && d.at < len(d.data) {
		d.fail(ErrTrailing)
	}
	return d.err
}

// More reports whether there is another element before the end or a closing tag.
func (d *Decoder) More() bool {
	if d.err != nil || d.at >= len(d.data) {
		return false
	}
	t, _, err := ParseTag(d.data[d.at:])
	return err != nil || t.Form != Closing // what cannot be read fails when it is read
}

// Fail makes err the decoder's error unless it has one.
func (d *Decoder) Fail(err error) { d.fail(err) }

func (d *Decoder) fail(err error) {
	if d.err == nil {
		d.err = fmt.Errorf("octet %d: %w", d.at, err)
	}
}

// Peek returns the next tag without stepping over it; false at the end and after an error.
func (d *Decoder) Peek() (Tag, bool) {
	if d.err != nil || d.at >= len(d.data) {
		return Tag{}, false
	}
	t, _, err := ParseTag(d.data[d.at:])
	return t, err == nil
}

// Has reports whether a primitive with the context tag is next.
func (d *Decoder) Has(tag int) bool {
	t, ok := d.Peek()
	return ok && t.Context && t.Form == Primitive && int(t.Number) == tag
}

// HasOpening reports whether an opening tag is next.
func (d *Decoder) HasOpening(tag int) bool {
	t, ok := d.Peek()
	return ok && t.Form == Opening && int(t.Number) == tag
}

// Opening steps over an opening tag.
func (d *Decoder) Opening(tag int) { d.mark(tag, Opening) }

// Closing steps over a closing tag.
func (d *Decoder) Closing(tag int) { d.mark(tag, Closing) }

func (d *Decoder) mark(tag int, form Form) {
	if d.err != nil {
		return
	}
	t, n, err := ParseTag(d.data[d.at:])
	switch {
	case err != nil:
		d.fail(err)
	case t.Form != form || int(t.Number) != tag:
		d.fail(fmt.Errorf("%w: %v instead of %v", ErrTag, t, Tag{Number: uint8(tag), Context: true, Form: form}))
	default:
		d.at += n
	}
}

// primitive steps over a primitive and returns its tag and content.
func (d *Decoder) primitive(tag, application int) (Tag, []byte) {
	if d.err != nil {
		return Tag{}, nil
	}
	t, n, err := ParseTag(d.data[d.at:])
	if err != nil {
		d.fail(err)
		return Tag{}, nil
	}
	want := Tag{Number: uint8(application)}
	if tag >= 0 {
		want = Tag{Number: uint8(tag), Context: true}
	}
	if t.Form != Primitive || t.Number != want.Number || t.Context != want.Context {
		d.fail(fmt.Errorf("%w: %v instead of %v", ErrTag, t, want))
		return Tag{}, nil
	}
	if uint64(t.content()) > uint64(len(d.data)-d.at-n) {
		d.fail(ErrTruncated)
		return Tag{}, nil
	}
	d.at += n
	content := d.data[d.at : d.at+int(t.content())]
	d.at += len(content)
	return t, content
}

// sized is primitive for content of least to most octets.
func (d *Decoder) sized(tag, application, least, most int) []byte {
	t, content := d.primitive(tag, application)
	if d.err == nil && (len(content) < least || len(content) > most) {
		d.fail(fmt.Errorf("%w: %v with %d octets", ErrLength, t, len(content)))
	}
	if d.err != nil {
		return make([]byte, least)
	}
	return content
}

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

// Any steps over constructed data with its opening and closing tag and returns what is between
// them, encoded.
func (d *Decoder) Any(tag int) Any {
	d.Opening(tag)
	from := d.at
	for d.More() {
		d.skip()
	}
	content := d.data[from:d.at]
	d.Closing(tag)
	if d.err != nil {
		return nil
	}
	return content
}

// Rest steps over everything up to the end or the next closing tag, and returns it encoded.
func (d *Decoder) Rest() Any {
	from := d.at
	for d.More() {
		d.skip()
	}
	if d.err != nil {
		return nil
	}
	return d.data[from:d.at]
}

// skip steps over one element, with everything in it, and returns it.
func (d *Decoder) skip() []byte {
	from, depth := d.at, 0
	for d.err == nil {
		t, n, err := ParseTag(d.data[d.at:])
		if err != nil {
			d.fail(err)
			break
		}
		switch t.Form {
		case Opening:
			depth++
		case Closing:
			depth--
		case Primitive:
		}
		switch {
		case depth < 0:
			d.fail(fmt.Errorf("%w: %v", ErrTag, t))
		case depth > MaxDepth:
			d.fail(ErrDepth)
		case uint64(t.content()) > uint64(len(d.data)-d.at-n):
			d.fail(ErrTruncated)
		default:
			d.at += n + int(t.content())
		}
		if depth == 0 {
			break
		}
	}
	if d.err != nil {
		return nil
	}
	return d.data[from:d.at]
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
