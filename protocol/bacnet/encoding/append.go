package encoding

import (
	"encoding/binary"
	"math"
)

// AppendNull writes a null (clause 20.2.2).
func AppendNull(b []byte, tag int) []byte { return appendTag(b, tag, tagNull, 0) }

// AppendBoolean writes a boolean (clause 20.2.3).
func AppendBoolean(b []byte, tag int, v bool) []byte {
	n := byte(0)
	if v {
		n = 1
	}
	if tag == App {
		return append(b, tagBoolean<<4|n)
	}
	return append(appendTag(b, tag, tagBoolean, 1), n)
}

// AppendUnsigned writes an unsigned integer in as few octets as hold it (clause 20.2.4).
func AppendUnsigned(b []byte, tag int, v uint64) []byte { return appendUint(b, tag, tagUnsigned, v) }

// AppendEnumerated writes an enumerated value (clause 20.2.11).
func AppendEnumerated(b []byte, tag int, v uint32) []byte {
	return appendUint(b, tag, tagEnumerated, uint64(v))
}

func appendUint(b []byte, tag, application int, v uint64) []byte {
	n := 1
	for rest := v >> 8; rest > 0; rest >>= 8 {
		n++
	}
	b = appendTag(b, tag, application, uint32(n))
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		b = append(b, byte(v>>shift))
	}
	return b
}

// AppendSigned writes a signed integer in as few octets as hold it (clause 20.2.5).
func AppendSigned(b []byte, tag int, v int64) []byte {
	n := 1
	for n < 8 && (v < -1<<(8*n-1) || v >= 1<<(8*n-1)) {
		n++
	}
	b = appendTag(b, tag, tagSigned, uint32(n))
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		b = append(b, byte(v>>shift))
	}
	return b
}

// AppendReal writes a real of four octets (clause 20.2.6).
func AppendReal(b []byte, tag int, v float32) []byte {
	return binary.BigEndian.AppendUint32(appendTag(b, tag, tagReal, 4), math.Float32bits(v))
}

// AppendDouble writes a real of eight octets (clause 20.2.7).
func AppendDouble(b []byte, tag int, v float64) []byte {
	return binary.BigEndian.AppendUint64(appendTag(b, tag, tagDouble, 8), math.Float64bits(v))
}

// AppendOctets writes an octet string (clause 20.2.8).
func AppendOctets[T string | []byte](b []byte, tag int, v T) []byte {
	return append(appendTag(b, tag, tagOctetString, uint32(len(v))), v...)
}

// AppendText writes a character string in UTF-8 (clause 20.2.9).
func AppendText(b []byte, tag int, v string) []byte {
	b = appendTag(b, tag, tagCharacterString, uint32(len(v))+1)
	return append(append(b, charsetUTF8), v...)
}

// AppendBits writes a bit string (clause 20.2.10).
func AppendBits(b []byte, tag int, v BitString) []byte {
	b = appendTag(b, tag, tagBitString, uint32(len(v.octets))+1)
	return append(append(b, v.unused), v.octets...)
}

// AppendDate writes a date (clause 20.2.12).
func AppendDate(b []byte, tag int, v Date) []byte {
	return append(appendTag(b, tag, tagDate, 4), v.Year, v.Month, v.Day, v.Weekday)
}

// AppendTime writes a time of day (clause 20.2.13).
func AppendTime(b []byte, tag int, v Time) []byte {
	return append(appendTag(b, tag, tagTime, 4), v.Hour, v.Minute, v.Second, v.Hundredths)
}

// AppendObjectID writes an object identifier (clause 20.2.14).
func AppendObjectID(b []byte, tag int, v ObjectID) []byte {
	return binary.BigEndian.AppendUint32(appendTag(b, tag, tagObjectID, 4), v.packed())
}

// AppendDateTime writes a date and a time: with App one after the other, otherwise between an
// opening and a closing tag.
func AppendDateTime(b []byte, tag int, v DateTime) []byte {
	if tag == App {
		return AppendTime(AppendDate(b, App, v.Date), App, v.Time)
	}
	return AppendClosing(AppendDateTime(AppendOpening(b, tag), App, v), tag)
}

// AppendAny writes encoded data between an opening and a closing tag.
func AppendAny(b []byte, tag int, v Any) []byte {
	return AppendClosing(append(AppendOpening(b, tag), v...), tag)
}
