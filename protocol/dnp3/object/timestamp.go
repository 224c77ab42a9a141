package object

import (
	"encoding/binary"
	"time"
)

// TimeSize is the size of an absolute time in octets.
const TimeSize = 6

// MaxMilliseconds is the largest absolute time, in the year 10889.
const MaxMilliseconds = 1<<48 - 1

// TimeQuality says what a timestamp is worth.
type TimeQuality uint8

// Qualities of a timestamp.
const (
	// TimeNone: the object has no time. The zero value.
	TimeNone TimeQuality = iota
	// TimeAbsolute: the device's own time; whether its clock is right shows in
	// the internal indications.
	TimeAbsolute
	// TimeUnsynchronized: relative to a common time that the device calls
	// unsynchronized (g51v2).
	TimeUnsynchronized
	// TimeBaseless: relative, but no common time came before; Milliseconds is the
	// offset as received.
	TimeBaseless
)

// Timestamp is a DNP3 time: milliseconds since 1970-01-01 00:00 UTC in 48 bits,
// 0–MaxMilliseconds, with its quality.
type Timestamp struct {
	Milliseconds uint64
	Quality      TimeQuality
}

// TimestampOf converts t to an absolute time, cut to milliseconds. A time before
// 1970 or after the year 10889 becomes the nearest one that can be expressed.
func TimestampOf(t time.Time) Timestamp {
	ms := min(max(t.UnixMilli(), 0), MaxMilliseconds)
	return Timestamp{Milliseconds: uint64(ms), Quality: TimeAbsolute}
}

// Time returns the time in UTC and whether it is one: not TimeNone or TimeBaseless.
func (s Timestamp) Time() (time.Time, bool) {
	usable := s.Quality == TimeAbsolute || s.Quality == TimeUnsynchronized
	return time.UnixMilli(int64(s.Milliseconds)).UTC(), usable
}

// ReadTime decodes the first six octets of p, which must be there.
func ReadTime(p []byte) Timestamp {
	ms := uint64(binary.LittleEndian.Uint32(p)) | uint64(binary.LittleEndian.Uint16(p[4:]))<<32
	return Timestamp{Milliseconds: ms, Quality: TimeAbsolute}
}

// relative adds an offset of 0–65535 ms to a common time.
func (s Timestamp) relative(offset uint16) Timestamp {
	if s.Quality == TimeNone {
		return Timestamp{Milliseconds: uint64(offset), Quality: TimeBaseless}
	}
	return Timestamp{Milliseconds: s.Milliseconds + uint64(offset), Quality: s.Quality}
}

// offset returns what must be added to the common time s to get t, and whether a
// relative time can say it.
func (s Timestamp) offset(t Timestamp) (uint16, bool) {
	if t.Quality == TimeBaseless && s.Quality == TimeNone {
		return uint16(t.Milliseconds), t.Milliseconds <= 0xFFFF
	}
	ms := t.Milliseconds - s.Milliseconds
	return uint16(ms), s.Quality != TimeNone && s.Quality == t.Quality && ms <= 0xFFFF
}

// AppendTime appends the six octets of a time; a time beyond MaxMilliseconds loses
// its high bits.
func AppendTime(dst []byte, s Timestamp) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Milliseconds))
	return binary.LittleEndian.AppendUint16(dst, uint16(s.Milliseconds>>32))
}
