// Package scalar parses numbers, strings and times for all formats. Its input is untrusted: it bounds strings and accepts only finite
// numbers.
package scalar

import (
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"voltbus/point"
)

// Reasons why a value is refused.
var (
	ErrNotFinite = errors.New("NaN and infinities are not recorded; leave the reading out, or send no value with the quality bad")
	ErrNumber    = errors.New("is not a number")
	ErrTooLarge  = errors.New("does not fit into a 64-bit number")
	errLongText  = errors.New("a text value has at most 64 KiB; send what it refers to instead")
	errTextUTF8  = errors.New("a text value must be valid UTF-8")
)

// MaxText is the maximum size of a text value in bytes.
const MaxText = 64 << 10

// exactDigits is how many decimal digits a float64 holds exactly.
const exactDigits = 15

// ExactInt is the largest n up to which a float64 represents all whole numbers.
const ExactInt = 1 << 53

// Float parses a decimal number. Readings have few digits, for which one division is exact; the rest takes
// the general path.
func Float(b []byte) (float64, error) {
	if f, ok := shortFloat(b); ok {
		return f, nil
	}
	if !decimal(b) {
		return 0, ErrNumber
	}
	f, err := strconv.ParseFloat(string(b), 64)
	switch {
	case err == nil && (math.IsNaN(f) || math.IsInf(f, 0)), errors.Is(err, strconv.ErrRange) && math.IsInf(f, 0):
		return 0, ErrTooLarge
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, ErrNumber
	}
	return f, nil
}

// shortFloat parses digits with at most one decimal point.
func shortFloat(b []byte) (float64, bool) {
	i := 0
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		i++
	}
	digits := b[i:]
	if len(digits) == 0 || len(digits) > exactDigits+1 {
		return 0, false
	}
	var n uint64
	point := -1
	for j, c := range digits {
		switch {
		case c-'0' <= 9:
			n = n*10 + uint64(c-'0')
		case c == '.' && point < 0 && j > 0 && j < len(digits)-1:
			point = j
		default:
			return 0, false
		}
	}
	f := float64(n)
	if point >= 0 {
		f /= math.Pow10(len(digits) - 1 - point) // exact up to 10^22
	} else if len(digits) > exactDigits {
		return 0, false
	}
	if negative {
		f = -f
	}
	return f, true
}

// decimal reports whether b is written with digits, signs, a point and an exponent only: no
// hexadecimal numbers, underscores or names.
func decimal(b []byte) bool {
	digits := false
	for _, c := range b {
		switch {
		case c-'0' <= 9:
			digits = true
		case c == '+' || c == '-' || c == '.' || c == 'e' || c == 'E':
		default:
			return false
		}
	}
	return digits
}

// Int parses a whole number with an optional sign.
func Int(b []byte) (int64, error) {
	i := 0
	negative := len(b) > 0 && b[0] == '-'
	if negative || (len(b) > 0 && b[0] == '+') {
		i++
	}
	if i == len(b) {
		return 0, ErrNumber
	}
	var n uint64
	for _, c := range b[i:] {
		if c-'0' > 9 {
			return 0, ErrNumber
		}
		if n > (math.MaxUint64-9)/10 {
			return 0, ErrTooLarge
		}
		n = n*10 + uint64(c-'0')
	}
	switch {
	case negative && n <= 1<<63:
		return -int64(n), nil
	case negative || n > math.MaxInt64:
		return 0, ErrTooLarge
	}
	return int64(n), nil
}

// Number converts a number of unspecified kind: to a Float, or to an Int if it is a whole number that a Float
// cannot represent.
func Number(b []byte) (point.Value, error) {
	f, err := Float(b)
	if err != nil {
		return point.Value{}, err
	}
	if f >= ExactInt || f <= -ExactInt {
		if n, err := Int(b); err == nil && n != ExactInt && n != -ExactInt {
			return point.IntOf(n), nil
		}
	}
	return point.FloatOf(f), nil
}

// Text converts bytes to a checked Text, without retaining them.
func Text(b []byte) (point.Value, error) {
	switch {
	case len(b) > MaxText:
		return point.Value{}, errLongText
	case !utf8.Valid(b):
		return point.Value{}, errTextUTF8
	}
	return point.TextOf(string(b)), nil
}

// NotFinite reports whether a text is a common spelling of NaN or an infinity.
func NotFinite(b []byte) bool {
	if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
		b = b[1:]
	}
	if len(b) < 3 || len(b) > len("infinity") {
		return false
	}
	switch Lower(string(b)) {
	case "nan", "inf", "infinity":
		return true
	}
	return false
}

// Lower is strings.ToLower for a few ASCII letters.
func Lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
