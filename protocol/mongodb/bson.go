package mongodb

import (
	"encoding/binary"
	"errors"
	"math"
)

// The types of elements (BSON 1.1).
const (
	typeDouble   = 0x01
	typeString   = 0x02
	typeDocument = 0x03
	typeArray    = 0x04
	typeBinary   = 0x05
	typeObjectID = 0x07
	typeBool     = 0x08
	typeDate     = 0x09
	typeNull     = 0x0a
	typeInt32    = 0x10
	typeStamp    = 0x11
	typeInt64    = 0x12
	typeDecimal  = 0x13
)

// Sizes of parts of an encoding.
const (
	lengthSize = 4
	wordSize   = 8
)

// Begin begins a document. End must follow with what it returns.
func Begin(b []byte) (document []byte, at int) {
	return append(b, 0, 0, 0, 0), len(b)
}

// End ends the document that began at a place.
func End(b []byte, at int) []byte {
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

func element(b []byte, kind byte, name string) []byte {
	return append(append(append(b, kind), name...), 0)
}

// Within begins an element that is a document. End must follow with what it returns.
func Within(b []byte, name string) (document []byte, at int) {
	return Begin(element(b, typeDocument, name))
}

// Array begins an element that is an array, whose elements are called 0, 1 and so on. End must follow with what it returns.
func Array(b []byte, name string) (array []byte, at int) {
	return Begin(element(b, typeArray, name))
}

// String appends a text. A name holds no byte that is 0.
func String(b []byte, name, v string) []byte {
	b = binary.LittleEndian.AppendUint32(element(b, typeString, name), uint32(len(v)+1))
	return append(append(b, v...), 0)
}

// Double appends a number.
func Double(b []byte, name string, v float64) []byte {
	return binary.LittleEndian.AppendUint64(element(b, typeDouble, name), math.Float64bits(v))
}

// Int32 appends a whole number.
func Int32(b []byte, name string, v int32) []byte {
	return binary.LittleEndian.AppendUint32(element(b, typeInt32, name), uint32(v))
}

// Int64 appends a whole number.
func Int64(b []byte, name string, v int64) []byte {
	return binary.LittleEndian.AppendUint64(element(b, typeInt64, name), uint64(v))
}

// Bool appends a truth value.
func Bool(b []byte, name string, v bool) []byte {
	b = element(b, typeBool, name)
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// Date appends a time in milliseconds since 1970 in UTC.
func Date(b []byte, name string, ms int64) []byte {
	return binary.LittleEndian.AppendUint64(element(b, typeDate, name), uint64(ms))
}

// Binary appends bytes.
func Binary(b []byte, name string, v []byte) []byte {
	b = binary.LittleEndian.AppendUint32(element(b, typeBinary, name), uint32(len(v)))
	return append(append(b, 0), v...)
}

// Document is what a server answers: numbers are float64 or int64, texts string, truth values bool, bytes []byte, arrays []any. Values of
// types that answers need not be understood for are nil.
type Document map[string]any

var errBroken = errors.New("the document is broken")

// deepest is how many documents may be in each other.
const deepest = 32

// Decode decodes a document, which is all of data.
func Decode(data []byte) (Document, error) {
	d := Document{}
	err := each(data, 0, func(name string, v any) { d[name] = v })
	return d, err
}

// each calls a function with the elements of a document.
func each(data []byte, depth int, take func(name string, v any)) error {
	if len(data) < lengthSize+1 || int(binary.LittleEndian.Uint32(data)) != len(data) || data[len(data)-1] != 0 || depth > deepest {
		return errBroken
	}
	rest := data[lengthSize : len(data)-1]
	for len(rest) > 0 {
		kind := rest[0]
		end := 1
		for end < len(rest) && rest[end] != 0 {
			end++
		}
		if end == len(rest) {
			return errBroken
		}
		name := string(rest[1:end])
		v, size, err := value(kind, rest[end+1:], depth)
		if err != nil {
			return err
		}
		take(name, v)
		rest = rest[end+1+size:]
	}
	return nil
}

// value decodes the value at the beginning of data, and returns its size.
func value(kind byte, data []byte, depth int) (v any, size int, err error) {
	size, err = sizeOf(kind, data)
	if err != nil {
		return nil, 0, err
	}
	data = data[:size]
	switch kind {
	case typeDouble:
		v = math.Float64frombits(binary.LittleEndian.Uint64(data))
	case typeString:
		v = string(data[lengthSize : size-1])
	case typeBinary:
		v = data[lengthSize+1:]
	case typeBool:
		v = data[0] != 0
	case typeInt32:
		v = int64(int32(binary.LittleEndian.Uint32(data)))
	case typeInt64, typeDate:
		v = int64(binary.LittleEndian.Uint64(data))
	case typeDocument:
		d := Document{}
		v, err = d, each(data, depth+1, func(name string, one any) { d[name] = one })
	case typeArray:
		var list []any
		err = each(data, depth+1, func(_ string, one any) { list = append(list, one) })
		v = list
	}
	return v, size, err
}

// sizeOf returns the size of the value at the beginning of data, all of which is there.
func sizeOf(kind byte, data []byte) (size int, err error) {
	switch kind {
	case typeNull:
	case typeBool:
		size = 1
	case typeInt32:
		size = 4
	case typeDouble, typeInt64, typeDate, typeStamp:
		size = wordSize
	case typeObjectID:
		size = 12
	case typeDecimal:
		size = 16
	case typeString, typeDocument, typeArray, typeBinary:
		return sizeWithin(kind, data)
	default:
		return 0, errBroken
	}
	if size > len(data) {
		return 0, errBroken
	}
	return size, nil
}

// sizeWithin returns the size of a value that begins with its length.
func sizeWithin(kind byte, data []byte) (int, error) {
	if len(data) < lengthSize {
		return 0, errBroken
	}
	size, least := int(binary.LittleEndian.Uint32(data)), lengthSize+1
	switch kind {
	case typeString:
		size += lengthSize
	case typeBinary:
		size += lengthSize + 1
	}
	if size < least || size > len(data) {
		return 0, errBroken
	}
	return size, nil
}
