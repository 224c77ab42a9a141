package object

import (
	"encoding/binary"
	"time"
)

// Interval units of [IndexedTime] (Annex A, g50v4).
const (
	IntervalNone         IntervalUnit = 0
	IntervalMilliseconds IntervalUnit = 1
	IntervalSeconds      IntervalUnit = 2
	IntervalMinutes      IntervalUnit = 3
	IntervalHours        IntervalUnit = 4
	IntervalDays         IntervalUnit = 5
	IntervalWeeks        IntervalUnit = 6
	IntervalMonths       IntervalUnit = 7
	IntervalSeasons      IntervalUnit = 10
)

// IntervalUnit is the unit of a repetition interval. Months keep the day of the
// month; 8 and 9 count the day from the start of the week, or from its end.
type IntervalUnit uint8

// IndexedTime is a time that repeats (g50v4): Start, then every Interval units.
type IndexedTime struct {
	Start    Timestamp
	Interval uint32
	Unit     IntervalUnit
}

// Time returns the absolute time of an object of g50v1–4 or g51; ok is false for
// any other object. A common time of g51v2 is TimeUnsynchronized.
func (o Raw) Time() (t Timestamp, ok bool) {
	kind := o.Variation.Kind()
	if kind != KindTime && kind != KindCommonTime || len(o.Data) < TimeSize {
		return Timestamp{}, false
	}
	t = ReadTime(o.Data)
	if o.Variation == G51V2 {
		t.Quality = TimeUnsynchronized
	}
	return t, true
}

// TimeInterval returns start and interval of an object of g50v2, with which a
// master orders freezes: once at start when interval is 0, else from start on
// every interval, 0 to 2^32-1 ms. ok is false for any other object.
func (o Raw) TimeInterval() (start Timestamp, interval time.Duration, ok bool) {
	if o.Variation != G50V2 || len(o.Data) < TimeSize+4 {
		return Timestamp{}, 0, false
	}
	ms := binary.LittleEndian.Uint32(o.Data[TimeSize:])
	return ReadTime(o.Data), time.Duration(ms) * time.Millisecond, true
}

// IndexedTime returns the repeating time of an object of g50v4; ok is false for any
// other object.
func (o Raw) IndexedTime() (t IndexedTime, ok bool) {
	if o.Variation != G50V4 || len(o.Data) < TimeSize+5 {
		return IndexedTime{}, false
	}
	return IndexedTime{
		Start:    ReadTime(o.Data),
		Interval: binary.LittleEndian.Uint32(o.Data[TimeSize:]),
		Unit:     IntervalUnit(o.Data[TimeSize+4]),
	}, true
}

// Delay returns the delay of an object of g52: 0–65535 seconds (v1) or
// milliseconds (v2). ok is false for any other object.
func (o Raw) Delay() (d time.Duration, ok bool) {
	if o.Variation.Kind() != KindDelay || len(o.Data) < 2 {
		return 0, false
	}
	unit := time.Millisecond
	if o.Variation == G52V1 {
		unit = time.Second
	}
	return time.Duration(binary.LittleEndian.Uint16(o.Data)) * unit, true
}
