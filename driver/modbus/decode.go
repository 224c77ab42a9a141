package modbus

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"

	"voltbus/point"
)

// The reasons why a value does not fit a register.
var (
	errNotNumber = errors.New("is not a number; write a number")
	errNotBool   = errors.New("is neither true nor false; write true or false")
)

// decode returns the register's value. It is false for what no value stands for: a number that
// is not one (NaN), an unsigned one beyond 63 bits without a scale, a scaling by zero. The words
// are those of the layout; other is the value of the transform's other register.
func (r *register) decode(words []uint16, other float64) (point.Value, bool) {
	l := r.layout
	if l.form == formText {
		text, ok := l.text(words)
		if !ok {
			return point.Value{}, false
		}
		return point.TextOf(text), true
	}
	v, ok := r.change.apply(l, l.join(words), other)
	if !ok {
		return point.Value{}, false
	}
	return v, true
}

// join puts the words together, the most significant first.
func (l layout) join(words []uint16) (raw uint64) {
	for i := range l.words {
		raw = raw<<16 | uint64(l.word(words, i))
	}
	if l.isField() {
		raw = raw >> l.low & (1<<l.width - 1)
	}
	return raw
}

// word returns word i, counted from the most significant.
func (l layout) word(words []uint16, i int) uint16 {
	if l.order.words {
		i = l.words - 1 - i
	}
	if l.order.bytes {
		return bits.ReverseBytes16(words[i])
	}
	return words[i]
}

// split is the inverse of join for a whole value.
func (l layout) split(raw uint64) []uint16 {
	words := make([]uint16, l.words)
	for i := range words {
		w := uint16(raw >> (16 * (l.words - 1 - i)))
		if l.order.bytes {
			w = bits.ReverseBytes16(w)
		}
		if l.order.words {
			words[l.words-1-i] = w
		} else {
			words[i] = w
		}
	}
	return words
}

// text returns the text up to the first NUL; false if it is not in its encoding.
func (l layout) text(words []uint16) (string, bool) {
	b := make([]byte, 0, 2*len(words))
	for _, w := range words[:l.words] {
		if l.order.bytes {
			w = bits.ReverseBytes16(w)
		}
		b = append(b, byte(w>>8), byte(w))
	}
	b, _, _ = bytes.Cut(b[:l.size], []byte{0})
	if !l.latin {
		return strings.ToValidUTF8(string(b), "\uFFFD"), utf8.Valid(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c) // ISO 8859-1 is the first 256 of Unicode
	}
	return string(runes), true
}

// value gives the raw bits their meaning, without any transform.
func (l layout) value(raw uint64) (point.Value, bool) {
	switch {
	case l.kind() == point.Bool:
		return point.BoolOf(raw != 0), true
	case l.form == formFloat:
		f := l.float(raw)
		return point.FloatOf(f), !math.IsNaN(f)
	case l.form == formInt && !l.isField():
		return point.IntOf(l.signed(raw)), true
	}
	return point.IntOf(int64(raw)), raw <= math.MaxInt64
}

// number is value as a float64, which every unsigned number has.
func (l layout) number(raw uint64) float64 {
	switch {
	case l.form == formFloat:
		return l.float(raw)
	case l.form == formInt && !l.isField():
		return float64(l.signed(raw))
	}
	return float64(raw)
}

func (l layout) float(raw uint64) float64 {
	if l.words == 2 {
		return float64(math.Float32frombits(uint32(raw)))
	}
	return math.Float64frombits(raw)
}

func (l layout) signed(raw uint64) int64 {
	shift := 64 - 16*l.words
	return int64(raw<<shift) >> shift
}

// encode returns the words that stand for v. For a bit field, current are the words that the
// device holds now; otherwise they are not looked at. The error says what to write instead.
func (r *register) encode(v point.Value, current []uint16, other float64) ([]uint16, error) {
	l := r.layout
	if l.form == formText {
		return l.encodeText(v)
	}
	wished := v
	v, err := r.change.undo(v, other)
	if err != nil {
		return nil, err
	}
	if f, isNumber := v.Number(); isNumber && v.Kind() == point.Float && r.change.op != asIs && l.form != formFloat {
		v = point.FloatOf(math.Round(f)) // to the nearest that the register can hold
	}
	raw, err := l.raw(v)
	if err != nil {
		return nil, r.inUnit(err, wished, other)
	}
	if l.isField() {
		whole := layout{words: l.words, order: l.order}
		mask := uint64(1<<l.width-1) << l.low
		raw = whole.join(current)&^mask | raw<<l.low
	}
	return l.split(raw), nil
}

// inUnit says the limits of a register that is scaled in the point's unit.
func (r *register) inUnit(err error, wished point.Value, other float64) error {
	if r.change.op == asIs || r.layout.form == formFloat {
		return err
	}
	low, high := r.layout.limits()
	mask := uint64(math.MaxUint64) >> (64 - r.layout.bitCount())
	from, ok1 := r.change.apply(r.layout, uint64(low)&mask, other)
	to, ok2 := r.change.apply(r.layout, uint64(high)&mask, other)
	if !ok1 || !ok2 || r.change.op == decimalSigned {
		return err
	}
	if a, _ := from.Number(); a > number(to) {
		from, to = to, from
	}
	return fmt.Errorf("does not fit: %v; write a number from %v to %v", wished, from, to)
}

func number(v point.Value) float64 {
	f, _ := v.Number()
	return f
}

func (l layout) encodeText(v point.Value) ([]uint16, error) {
	if v.Kind() != point.Text {
		return nil, errors.New("is not a text; write a text")
	}
	b, err := l.bytesOf(v.Text())
	if err != nil {
		return nil, err
	}
	if len(b) > l.size {
		return nil, fmt.Errorf("is %d bytes long; write at most %d", len(b), l.size)
	}
	b = append(b, make([]byte, 2*l.words-len(b))...)
	words := make([]uint16, l.words)
	for i := range words {
		words[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
		if l.order.bytes {
			words[i] = bits.ReverseBytes16(words[i])
		}
	}
	return words, nil
}

// bytesOf returns a text in the encoding of the layout.
func (l layout) bytesOf(text string) ([]byte, error) {
	if !l.latin {
		return []byte(text), nil
	}
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			return nil, fmt.Errorf("has the character %q, which latin1 has not; write another", r)
		}
		b = append(b, byte(r))
	}
	return b, nil
}

// raw is the inverse of value.
func (l layout) raw(v point.Value) (uint64, error) {
	if l.kind() == point.Bool {
		f, ok := v.Number()
		if !ok || (f != 0 && f != 1) {
			return 0, errNotBool
		}
		return uint64(f), nil
	}
	if l.form == formFloat {
		return l.rawFloat(v)
	}
	low, high := l.limits()
	i, ok := integer(v)
	if !ok || i < low || i > high {
		if v.Kind() == point.None || v.Kind() == point.Text {
			return 0, errNotNumber
		}
		return 0, fmt.Errorf("does not fit: %v; write a whole number from %d to %d", v, low, high)
	}
	return uint64(i) & (math.MaxUint64 >> (64 - l.bitCount())), nil
}

// bitCount is how many bits the value has.
func (l layout) bitCount() int {
	if l.isField() {
		return int(l.width)
	}
	return 16 * l.words
}

// limits returns the least and the greatest whole number of the layout, within int64.
func (l layout) limits() (low, high int64) {
	if l.form == formInt && !l.isField() {
		high = math.MaxInt64 >> (64 - l.bitCount())
		return -high - 1, high
	}
	return 0, int64(min(math.MaxUint64>>(64-l.bitCount()), uint64(math.MaxInt64)))
}

// integer returns v if it is a whole number.
func integer(v point.Value) (int64, bool) {
	i, ok := v.Int()
	if !ok {
		return 0, false
	}
	f, _ := v.Number()
	return i, v.Kind() != point.Float || f == math.Trunc(f)
}

func (l layout) rawFloat(v point.Value) (uint64, error) {
	f, ok := v.Number()
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errNotNumber
	}
	if l.words == 4 {
		return math.Float64bits(f), nil
	}
	if math.Abs(f) > math.MaxFloat32 {
		return 0, fmt.Errorf("does not fit a float32: %v; write at most %v", v, math.MaxFloat32)
	}
	if v.Kind() == point.Int && float64(float32(f)) != f {
		return 0, fmt.Errorf("has more digits than a float32 holds: %v; write %v, which is the next that it holds", v, float32(f))
	}
	return uint64(math.Float32bits(float32(f))), nil
}
