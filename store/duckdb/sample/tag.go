package sample

import (
	"math"

	"voltbus/point"
)

// tag is what a table stores for a sample besides its time and a double, in one number: the kind in the lowest byte, the only part used
// for good samples, the quality in the next, and above them, if the double alone does not suffice, the distance from it to the exact
// integer plus exactBias. This is the case for an integer beyond ±2^53, of which the double is the nearest, and for the float −0, which
// DuckDB's compression turns into 0.
type tag uint32

const (
	qualityShift = 8
	exactShift   = 16

	// exactBias keeps the distance of an exact integer above 0: it is at most 512, half of the step
	// between two doubles below 2^63.
	exactBias = 1024

	// exactBelow is the bound up to which a double represents integers exactly.
	exactBelow = 1 << 53

	negativeZero = 1 << 63 // bits of the float −0
)

func plainTag(k point.Kind, q point.Quality) tag { return tag(q)<<qualityShift | tag(k) }

func exactTag(distance int64) tag { return tag(distance+exactBias) << exactShift }

func (g tag) quality() point.Quality { return point.Quality(g >> qualityShift) }

func (g tag) kind() point.Kind { return point.Kind(g) }

func (g tag) isExact() bool { return g >= 1<<exactShift }

// distance is from the double to the exact integer.
func (g tag) distance() int64 { return int64(g>>exactShift) - exactBias }

// stored returns the stored form of a number: its double and, if that does not suffice, a part of its tag.
// Text, whose number is in the double, and missing values have 0.
func stored(kind point.Kind, bits uint64) (value float64, exact tag) {
	switch kind {
	case point.Float:
		if bits == negativeZero {
			return 0, exactTag(0)
		}
		return math.Float64frombits(bits), 0
	case point.Int:
		v := int64(bits)
		value = float64(v)
		if v > exactBelow || v < -exactBelow {
			exact = exactTag(v - wrapped(value))
		}
		return value, exact
	case point.Bool:
		return float64(bits), 0
	case point.None, point.Text:
	}
	return 0, 0
}

// number returns the value that was stored as the double and the tag. It is not for text.
func (g tag) number(value float64) point.Value {
	switch g.kind() {
	case point.Float:
		if g.isExact() {
			return point.FloatOf(math.Copysign(0, -1))
		}
		return point.FloatOf(value)
	case point.Int:
		if g.isExact() {
			return point.IntOf(wrapped(value) + g.distance())
		}
		return point.IntOf(int64(value))
	case point.Bool:
		return point.BoolOf(value != 0)
	case point.None, point.Text:
	}
	return point.Value{}
}

// wrapped is the integer that the double holds, 2^63 as −2^63: adding the distance to a number below 2^63
// reverses it.
func wrapped(value float64) int64 {
	if value == 1<<63 {
		return math.MinInt64
	}
	return int64(value)
}

// Decoded are the FileColumns of rows t(id, time, value, tag). It takes the expression for the text.
const Decoded = `t.id, t.time,
	CASE WHEN (t.tag & 255) IN (1, 2, 3) THEN t.value END AS value,
	CASE WHEN t.tag >= 65536 THEN (t.value::HUGEINT + (t.tag >> 16)::HUGEINT - 1024)::BIGINT END AS exact,
	%s AS text, (t.tag & 255)::UTINYINT AS kind, ((t.tag >> 8) & 255)::UTINYINT AS quality`
