package binary

import (
	"encoding/binary"
	"errors"
	"math"
)

var errForm = errors.New("a value does not have the binary form that was asked for")

// Int reads a smallint, an integer or a bigint; 0 for NULL.
func Int(b []byte) int64 {
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Float reads a double precision; NaN for NULL.
func Float(b []byte) float64 {
	if len(b) != 8 {
		return math.NaN()
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b))
}

// elements calls each with the elements of an array of one dimension, nil for NULL.
func elements(b []byte, each func([]byte)) error {
	if b == nil {
		return nil
	}
	if len(b) < 12 {
		return errForm
	}
	if binary.BigEndian.Uint32(b) == 0 {
		return nil
	}
	if len(b) < 20 {
		return errForm
	}
	n := int(binary.BigEndian.Uint32(b[12:]))
	b = b[20:]
	for range n {
		if len(b) < 4 {
			return errForm
		}
		size := int(int32(binary.BigEndian.Uint32(b)))
		if b = b[4:]; size < 0 {
			each(nil)
			continue
		}
		if len(b) < size {
			return errForm
		}
		each(b[:size:size])
		b = b[size:]
	}
	return nil
}

// Ints appends the elements of an array of whole numbers without NULL.
func Ints(dst []int32, b []byte) ([]int32, error) {
	err := elements(b, func(e []byte) { dst = append(dst, int32(Int(e))) })
	return dst, err
}

// Floats appends the elements of a double precision[]; NaN for NULL.
func Floats(dst []float64, b []byte) ([]float64, error) {
	err := elements(b, func(e []byte) { dst = append(dst, Float(e)) })
	return dst, err
}
