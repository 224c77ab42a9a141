package point

import (
	"strings"
	"time"
)

// Block is a run of samples of one origin, column by column: the unit of the log and of every transfer. The
// columns have equal length, one entry per sample. A Block may be reused after Reset; the decoder owns it
// until then. It is not safe for concurrent use.
type Block struct {
	Origin   string    // its creator: a node's data directory, or its urgent lane
	Sequence uint64    // 1 for the origin's first block, then without gaps
	First    uint64    // it represents the blocks First to Sequence; 0: a single one, as closed by its origin
	Before   uint64    // samples in all blocks before First, including those left out: a gap in blocks is a known number of samples
	Left     uint64    // samples of First to Sequence left out on the way
	Refused  uint64    // samples that the origin has had to refuse so far, because it could not record them
	Created  time.Time // when the origin closed it
	Lost     string    // why blocks before First are missing, if they are: "dropped" or "corrupt"; "" if unknown

	// Where a reader of the log found the block. Not part of its encoded form.
	Log         string // identity of the log
	LogSequence uint64 // its position there, from 1

	Points []Path // the dictionary: every point of the block once

	Point   []uint32 // index into Points
	Time    []int64  // microseconds since 1970 UTC
	Kind    []Kind
	Quality []Quality
	Bits    []uint64 // see Value.Bits; for Text the index into Texts
	Texts   []string
}

// Len returns the number of samples.
func (b *Block) Len() int { return len(b.Point) }

// UrgentOrigin returns the origin of the urgent lane of an origin: what it records first, with its own
// numbers.
func UrgentOrigin(origin string) string { return origin + urgentMark }

// MeterOrigin returns the origin of the meter readings received by an origin: blocks that do not belong to the history.
func MeterOrigin(origin string) string { return origin + meterMark }

// MeterEventOrigin returns the origin of the meter events received by an origin. It is the urgent lane of the readings' origin, so that
// events overtake readings on every hop.
func MeterEventOrigin(origin string) string { return UrgentOrigin(MeterOrigin(origin)) }

// ReleasedOrigin returns how the origins begin of the readings of a node that a person released for its parent, after a rule withheld them.
func ReleasedOrigin(origin string) string { return origin + releasedMark }

// IsMeterOrigin reports whether the blocks of an origin contain readings or events of meters.
func IsMeterOrigin(origin string) bool {
	return strings.HasSuffix(origin, meterMark) || IsMeterEventOrigin(origin)
}

// IsMeterEventOrigin reports whether the blocks of an origin contain events of meters.
func IsMeterEventOrigin(origin string) bool { return strings.HasSuffix(origin, meterMark+urgentMark) }

// CutMeterOrigin splits a text that begins with the origin of meter readings or events after that origin; otherwise all of it is the rest.
func CutMeterOrigin(text string) (origin, rest string) {
	end := strings.Index(text, meterMark) + len(meterMark)
	if end < len(meterMark) {
		return "", text
	}
	if strings.HasPrefix(text[end:], urgentMark) {
		end += len(urgentMark)
	}
	return text[:end], text[end:]
}

const (
	meterMark    = "#"
	urgentMark   = "!"
	releasedMark = "+"
)

// Leave removes the samples from the block, and counts them as left out.
func (b *Block) Leave() {
	b.Left += uint64(b.Len())
	b.Points, b.Point, b.Time, b.Kind = b.Points[:0], b.Point[:0], b.Time[:0], b.Kind[:0]
	b.Quality, b.Bits, b.Texts = b.Quality[:0], b.Bits[:0], b.Texts[:0]
}

// FirstSequence returns the first of the origin's blocks that the block represents.
func (b *Block) FirstSequence() uint64 {
	if b.First == 0 {
		return b.Sequence
	}
	return b.First
}

// End returns the samples in all blocks of the origin up to Sequence, including those left out: Before of the
// next block.
func (b *Block) End() uint64 { return b.Before + uint64(b.Len()) + b.Left }

// Reset empties the block and keeps its memory.
func (b *Block) Reset() {
	clear(b.Points)
	clear(b.Texts)
	*b = Block{
		Points: b.Points[:0], Point: b.Point[:0], Time: b.Time[:0], Kind: b.Kind[:0],
		Quality: b.Quality[:0], Bits: b.Bits[:0], Texts: b.Texts[:0],
	}
}

// Append adds a sample of the point at index in the dictionary.
func (b *Block) Append(index uint32, s *Sample) {
	bits := s.Value.bits
	if s.Value.kind == Text {
		bits = uint64(len(b.Texts))
		b.Texts = append(b.Texts, s.Value.text)
	}
	b.Point = append(b.Point, index)
	b.Time = append(b.Time, s.Time.UnixMicro())
	b.Kind = append(b.Kind, s.Value.kind)
	b.Quality = append(b.Quality, s.Quality)
	b.Bits = append(b.Bits, bits)
}

// Value returns the value of sample i.
func (b *Block) Value(i int) Value {
	if b.Kind[i] == Text {
		return TextOf(b.Texts[b.Bits[i]])
	}
	return Value{kind: b.Kind[i], bits: b.Bits[i]}
}

// Sample returns sample i.
func (b *Block) Sample(i int) Sample {
	return Sample{
		Point: b.Points[b.Point[i]], Time: time.UnixMicro(b.Time[i]).UTC(),
		Value: b.Value(i), Quality: b.Quality[i],
	}
}
