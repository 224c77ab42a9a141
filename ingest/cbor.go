package ingest

import (
	"errors"
	"fmt"
	"math"

	"voltbus/fault"
	"voltbus/ingest/jsontext"
	"voltbus/ingest/scalar"
	"voltbus/point"
)

// The major types of CBOR (RFC 8949, section 3.1).
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

const (
	tagDecimal  = 4    // decimal fraction: [exponent, mantissa]
	breakCode   = 0xff // ends an item of indefinite length
	indefinite  = 31
	simpleFalse = 20
	simpleTrue  = 21
	floatHalf   = 25
	floatSingle = 26
	floatDouble = 27
)

var errCBOR = errors.New("is not CBOR")

// cbor walks over CBOR. As with jsontext.Scanner, check comes first.
type cbor struct {
	b []byte
	i int
}

// head is the head of a data item.
type head struct {
	major byte
	info  byte
	arg   uint64
}

func (c *cbor) check() error {
	err := c.skip(0)
	if err == nil && c.i < len(c.b) {
		err = jsontext.ErrBehind
	}
	if err != nil {
		return fault.E("ingest.Parse", fault.Invalid, "body", fmt.Errorf("is not CBOR that can be read: byte %d %w", c.i+1, err))
	}
	c.i = 0
	return nil
}

func (c *cbor) head() (h head, err error) {
	if c.i >= len(c.b) {
		return h, jsontext.ErrEarly
	}
	h.major, h.info = c.b[c.i]>>5, c.b[c.i]&31
	c.i++
	size := 0
	switch {
	case h.info < 24:
		h.arg = uint64(h.info)
	case h.info < 28:
		size = 1 << (h.info - 24)
	case h.info != indefinite || h.major < majorBytes || h.major == majorTag:
		return h, errCBOR
	}
	if len(c.b)-c.i < size {
		return h, jsontext.ErrEarly
	}
	for range size {
		h.arg = h.arg<<8 | uint64(c.b[c.i])
		c.i++
	}
	return h, nil
}

// skip skips an item and checks it.
func (c *cbor) skip(depth int) error {
	if depth > maxDepth {
		return jsontext.ErrDeep
	}
	h, err := c.head()
	if err != nil {
		return err
	}
	switch h.major {
	case majorBytes, majorText:
		return c.skipString(h)
	case majorArray, majorMap:
		return c.skipItems(h, depth)
	case majorTag:
		return c.skip(depth + 1)
	case majorSimple:
		if h.info == indefinite {
			return errCBOR // a break where no item can end
		}
	}
	return nil
}

func (c *cbor) skipString(h head) error {
	if h.info != indefinite {
		if h.arg > uint64(len(c.b)-c.i) {
			return jsontext.ErrEarly
		}
		c.i += int(h.arg)
		return nil
	}
	for !c.ended() {
		part, err := c.head()
		if err != nil {
			return err
		}
		if part.major != h.major || part.info == indefinite {
			return errCBOR
		}
		if err := c.skipString(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *cbor) skipItems(h head, depth int) error {
	each := 1
	if h.major == majorMap {
		each = 2
	}
	for n := uint64(0); h.info == indefinite || n < h.arg; n++ {
		if h.info == indefinite && c.ended() {
			return nil
		}
		for range each {
			if err := c.skip(depth + 1); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended skips a break if it comes next.
func (c *cbor) ended() bool {
	if c.i < len(c.b) && c.b[c.i] == breakCode {
		c.i++
		return true
	}
	return false
}

// items counts the remaining items of an array or a map.
type items struct {
	left    uint64
	endless bool
}

func (c *cbor) items(h head) items { return items{left: h.arg, endless: h.info == indefinite} }

// next reports whether there is one more.
func (c *cbor) next(n *items) bool {
	if n.endless {
		return !c.ended()
	}
	if n.left == 0 {
		return false
	}
	n.left--
	return true
}

// text returns a string, joined if it comes in parts.
func (c *cbor) text(h head) []byte {
	if h.info != indefinite {
		c.i += int(h.arg)
		return c.b[c.i-int(h.arg) : c.i : c.i]
	}
	joined := []byte{}
	for !c.ended() {
		part, _ := c.head() // already checked
		joined = append(joined, c.text(part)...)
	}
	return joined
}

// value reads the value of a field.
func (c *cbor) value() (v fieldContent, err error) {
	from := c.i
	h, _ := c.head() // already checked
	switch h.major {
	case majorUint, majorNegative:
		v.number, err = wholeNumber(h)
	case majorBytes:
		v.data = c.text(h)
	case majorText:
		v.text = c.text(h)
	case majorTag:
		if h.arg == tagDecimal {
			return c.decimal()
		}
		return c.value()
	case majorSimple:
		v.number, err = simple(h)
	default:
		c.i = from
		_ = c.skip(0)
		err = errFieldType
	}
	return v, err
}

// wholeNumber converts an integer to a value as scalar.Number does.
func wholeNumber(h head) (point.Value, error) {
	if h.arg > math.MaxInt64 {
		return point.Value{}, scalar.ErrTooLarge
	}
	n := int64(h.arg)
	if h.major == majorNegative {
		n = -1 - n
	}
	if n > scalar.ExactInt || n < -scalar.ExactInt {
		return point.IntOf(n), nil
	}
	return point.FloatOf(float64(n)), nil
}

func simple(h head) (point.Value, error) {
	var f float64
	switch h.info {
	case simpleFalse, simpleTrue:
		return point.BoolOf(h.info == simpleTrue), nil
	case floatHalf:
		f = half(uint16(h.arg))
	case floatSingle:
		f = float64(math.Float32frombits(uint32(h.arg)))
	case floatDouble:
		f = math.Float64frombits(h.arg)
	default:
		return point.Value{}, errFieldType
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return point.Value{}, scalar.ErrNotFinite
	}
	return point.FloatOf(f), nil
}

// half widens a 16-bit float (RFC 8949, appendix D).
func half(b uint16) float64 {
	exponent, mantissa := int(b>>10&31), float64(b&1023)
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(mantissa, -24)
	case 31:
		f = math.Inf(1)
		if mantissa != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(mantissa+1024, exponent-25)
	}
	if b>>15 == 1 {
		return -f
	}
	return f
}

// decimal decodes the two numbers of a decimal fraction.
func (c *cbor) decimal() (v fieldContent, err error) {
	from := c.i
	h, _ := c.head() // already checked
	if h.major != majorArray || h.info == indefinite || h.arg != 2 {
		c.i = from
		_ = c.skip(0)
		return v, errFieldType
	}
	exponent, err1 := c.value()
	mantissa, err2 := c.value()
	if err := errors.Join(err1, err2); err != nil {
		return v, errFieldType
	}
	e, ok := exponent.number.Int()
	m, numeric := mantissa.number.Int()
	if !ok || !numeric || exponent.text != nil || mantissa.text != nil || e < -400 || e > 400 {
		return v, errFieldType
	}
	f, err := scalar.Float(fmt.Appendf(nil, "%de%d", m, e))
	v.number = point.FloatOf(f)
	return v, err
}

// parseCBOR parses SenML as CBOR.
func (p *Parser) parseCBOR(body []byte) error {
	c := &cbor{b: body}
	if err := c.check(); err != nil {
		return err
	}
	h, _ := c.head() // already checked
	if h.major != majorArray {
		return fault.E("ingest.Parse", fault.Invalid, "body", errPack)
	}
	k := &pack{Parser: p}
	records := c.items(h)
	for n := 1; c.next(&records); n++ {
		if err := k.close(n, k.readCBOR(c)); err != nil {
			return err
		}
	}
	return nil
}

// readCBOR reads the fields of a record. It always consumes the whole record.
func (k *pack) readCBOR(c *cbor) (err error) {
	from := c.i
	h, _ := c.head() // already checked
	if h.major != majorMap {
		c.i = from
		_ = c.skip(0)
		return errRecord
	}
	fields := c.items(h)
	for c.next(&fields) {
		l := c.label()
		if l == otherLabel {
			_ = c.skip(0) // already checked
			continue
		}
		v, e := c.value()
		if e == nil {
			e = k.set(l, &v)
		}
		if e != nil && err == nil {
			err = fmt.Errorf("field %d: %w", l, e)
		}
	}
	return err
}

// label reads the name of a field, which is a number or a string.
func (c *cbor) label() label {
	from := c.i
	h, _ := c.head() // already checked
	switch {
	case h.major == majorUint && h.arg <= uint64(dataValue):
		return label(h.arg)
	case h.major == majorNegative && h.arg < uint64(-baseSum):
		return -1 - label(h.arg)
	case h.major == majorText:
		return labelOf(c.text(h))
	case h.major > majorText:
		c.i = from
		_ = c.skip(0)
	case h.major == majorBytes:
		c.text(h)
	}
	return otherLabel
}
