package pointlist

import (
	"math"
	"strings"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// qualityOf interprets the flags of a point (IEEE 1815-2012 Annex A; 11.6): first what makes a value
// unusable, then what makes it doubtful, then who set it.
func qualityOf(kind object.Kind, f object.Flags) point.Quality {
	switch {
	case f.Has(object.FlagCommLost):
		return point.BadUnreachable
	case f.Has(object.FlagRestart):
		return point.BadStale
	case !f.Has(object.FlagOnline):
		return point.BadDevice
	}
	switch kind {
	case object.KindAnalogInput, object.KindFrozenAnalog, object.KindAnalogOutput:
		if f.Has(object.FlagReference) {
			return point.BadSensor
		}
		if f.Has(object.FlagOverRange) {
			return point.UncertainRange
		}
	case object.KindBinaryInput, object.KindDoubleBitInput:
		if f.Has(object.FlagChatter) {
			return point.Uncertain
		}
	case object.KindCounter, object.KindFrozenCounter:
		if f.Has(object.FlagDiscontinuity) {
			return point.Uncertain
		}
	default:
	}
	switch {
	case f.Has(object.FlagLocalForced):
		return point.Override
	case f.Has(object.FlagRemoteForced):
		return point.Substituted
	}
	return point.Good
}

// Read converts a value with its flags to one of the platform. A bad one has no value.
func (t *Item) Read(v object.Value, f object.Flags) (point.Value, point.Quality) {
	q := qualityOf(t.Kind, f)
	if q.IsBad() {
		return point.Value{}, q
	}
	switch t.Kind {
	case object.KindBinaryInput, object.KindBinaryOutput:
		return point.BoolOf(v.Bool()), q
	case object.KindDoubleBitInput:
		state := v.DoubleBit()
		if state == object.Indeterminate && q.IsGood() {
			q = point.Uncertain
		}
		return point.IntOf(int64(state)), q
	case object.KindCounter, object.KindFrozenCounter:
		if !t.scaled() {
			return point.IntOf(v.Int()), q
		}
	default:
	}
	number := v.Float()*t.scale + t.offset
	if math.IsNaN(number) {
		return point.Value{}, point.BadValue
	}
	return point.FloatOf(number), q
}

// TextOf returns an octet string as text: without trailing zeros, and with invalid UTF-8 replaced.
func TextOf(octets []byte) point.Value {
	return point.TextOf(strings.ToValidUTF8(strings.TrimRight(string(octets), "\x00"), "\uFFFD"))
}
