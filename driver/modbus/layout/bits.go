package layout

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

// Reasons why a value does not fit a register.
var (
	ErrNotNumber = errors.New("is not a number; write a number")
	errNotBool   = errors.New("is neither true nor false; write true or false")
)

// Join combines the words, the most significant first.
func (l Layout) Join(words []uint16) (raw uint64) {
	for i := range l.Words {
		raw = raw<<16 | uint64(l.word(words, i))
	}
	if l.IsField() {
		raw = raw >> l.low & (1<<l.width - 1)
	}
	return raw
}

// word returns word i, counted from the most significant.
func (l Layout) word(words []uint16, i int) uint16 {
	if l.Order.Words {
		i = l.Words - 1 - i
	}
	if l.Order.Bytes {
		return bits.ReverseBytes16(words[i])
	}
	return words[i]
}

// Insert puts the value's bits into words. For a bit field, current are the words now in the device, whose other bits
// are kept; otherwise they are ignored.
func (l Layout) Insert(raw uint64, current []uint16) []uint16 {
	if l.IsField() {
		whole := Layout{Words: l.Words, Order: l.Order}
		mask := uint64(1<<l.width-1) << l.low
		raw = whole.Join(current)&^mask | raw<<l.low
	}
	return l.split(raw)
}

// split is the inverse of Join for a whole value.
func (l Layout) split(raw uint64) []uint16 {
	words := make([]uint16, l.Words)
	for i := range words {
		w := uint16(raw >> (16 * (l.Words - 1 - i)))
		if l.Order.Bytes {
			w = bits.ReverseBytes16(w)
		}
		if l.Order.Words {
			words[l.Words-1-i] = w
		} else {
			words[i] = w
		}
	}
	return words
}

// Text returns the text up to the first NUL; false if it is not in its encoding.
func (l Layout) Text(words []uint16) (string, bool) {
	b := make([]byte, 0, 2*len(words))
	for _, w := range words[:l.Words] {
		if l.Order.Bytes {
			w = bits.ReverseBytes16(w)
		}
		b = append(b, byte(w>>8), byte(w))
	}
	b, _, _ = bytes.Cut(b[:l.Size], []byte{0})
	if !l.latin {
		return strings.ToValidUTF8(string(b), "\uFFFD"), utf8.Valid(b)
	}
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c) // ISO 8859-1 is the first 256 of Unicode
	}
	return string(runes), true
}

// Value interprets the raw bits, without any transform.
func (l Layout) Value(raw uint64) (point.Value, bool) {
	switch {
	case l.Kind() == point.Bool:
		return point.BoolOf(raw != 0), true
	case l.Form == Float:
		f := l.float(raw)
		return point.FloatOf(f), !math.IsNaN(f)
	case l.Form == Int && !l.IsField():
		return point.IntOf(l.signed(raw)), true
	}
	return point.IntOf(int64(raw)), raw <= math.MaxInt64
}

// Number is Value as a float64, which exists for every unsigned number.
func (l Layout) Number(raw uint64) float64 {
	switch {
	case l.Form == Float:
		return l.float(raw)
	case l.Form == Int && !l.IsField():
		return float64(l.signed(raw))
	}
	return float64(raw)
}

func (l Layout) float(raw uint64) float64 {
	if l.Words == 2 {
		return float64(math.Float32frombits(uint32(raw)))
	}
	return math.Float64frombits(raw)
}

func (l Layout) signed(raw uint64) int64 {
	shift := 64 - 16*l.Words
	return int64(raw<<shift) >> shift
}

// EncodeText returns the words of a text.
func (l Layout) EncodeText(v point.Value) ([]uint16, error) {
	if v.Kind() != point.Text {
		return nil, errors.New("is not a text; write a text")
	}
	b, err := l.bytesOf(v.Text())
	if err != nil {
		return nil, err
	}
	if len(b) > l.Size {
		return nil, fmt.Errorf("is %d bytes long; write at most %d", len(b), l.Size)
	}
	b = append(b, make([]byte, 2*l.Words-len(b))...)
	words := make([]uint16, l.Words)
	for i := range words {
		words[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
		if l.Order.Bytes {
			words[i] = bits.ReverseBytes16(words[i])
		}
	}
	return words, nil
}

// bytesOf returns a text in the encoding of the layout.
func (l Layout) bytesOf(text string) ([]byte, error) {
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

// Raw is the inverse of Value.
func (l Layout) Raw(v point.Value) (uint64, error) {
	if l.Kind() == point.Bool {
		f, ok := v.Number()
		if !ok || (f != 0 && f != 1) {
			return 0, errNotBool
		}
		return uint64(f), nil
	}
	if l.Form == Float {
		return l.rawFloat(v)
	}
	low, high := l.Limits()
	i, ok := integer(v)
	if !ok || i < low || i > high {
		if v.Kind() == point.None || v.Kind() == point.Text {
			return 0, ErrNotNumber
		}
		return 0, fmt.Errorf("does not fit: %v; write a whole number from %d to %d", v, low, high)
	}
	return uint64(i) & (math.MaxUint64 >> (64 - l.BitCount())), nil
}

// BitCount is how many bits the value has.
func (l Layout) BitCount() int {
	if l.IsField() {
		return int(l.width)
	}
	return 16 * l.Words
}

// Limits returns the smallest and the greatest whole number of the layout, within int64.
func (l Layout) Limits() (low, high int64) {
	if l.Form == Int && !l.IsField() {
		high = math.MaxInt64 >> (64 - l.BitCount())
		return -high - 1, high
	}
	return 0, int64(min(math.MaxUint64>>(64-l.BitCount()), uint64(math.MaxInt64)))
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

func (l Layout) rawFloat(v point.Value) (uint64, error) {
	f, ok := v.Number()
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, ErrNotNumber
	}
	if l.Words == 4 {
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
