package service

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// RangeBy says what the start of a range is (clause 15.8.1.1.4).
type RangeBy uint8

// The choices.
const (
	AllItems   RangeBy = iota
	ByPosition         // the position in the list, from 1
	BySequence         // the sequence number of a record
	ByTime             // records behind a time (count above 0) or before it
)

const (
	tagPosition = 3
	tagSequence = 6
	tagTime     = 7
)

// ReadRangeRequest asks for a part of a list, such as the log-buffer of a trend log (clause 15.8).
type ReadRangeRequest struct {
	Object   encoding.ObjectID
	Property enum.Property
	Index    constructed.Index
	By       RangeBy
	Start    uint32            // of ByPosition and BySequence
	Time     encoding.DateTime // of ByTime
	Count    int32             // negative: so many up to the start
}

// Append writes the request.
func (r ReadRangeRequest) Append(b []byte) []byte {
	b = ReadPropertyRequest{r.Object, r.Property, r.Index}.Append(b)
	switch r.By {
	case ByPosition:
		return r.appendStart(b, tagPosition)
	case BySequence:
		return r.appendStart(b, tagSequence)
	case ByTime:
		b = encoding.AppendDateTime(encoding.AppendOpening(b, tagTime), encoding.App, r.Time)
		return encoding.AppendClosing(encoding.AppendSigned(b, encoding.App, int64(r.Count)), tagTime)
	default:
		return b
	}
}

func (r ReadRangeRequest) appendStart(b []byte, tag int) []byte {
	b = encoding.AppendUnsigned(encoding.AppendOpening(b, tag), encoding.App, uint64(r.Start))
	return encoding.AppendClosing(encoding.AppendSigned(b, encoding.App, int64(r.Count)), tag)
}

// DecodeReadRangeRequest reads the request.
func DecodeReadRangeRequest(p []byte) (ReadRangeRequest, error) {
	d := encoding.NewDecoder(p)
	t := readTarget(d)
	r := ReadRangeRequest{Object: t.Object, Property: t.Property, Index: t.Index}
	switch {
	case d.HasOpening(tagPosition):
		r.By = ByPosition
		r.readStart(d, tagPosition)
	case d.HasOpening(tagSequence):
		r.By = BySequence
		r.readStart(d, tagSequence)
	case d.HasOpening(tagTime):
		r.By = ByTime
		d.Opening(tagTime)
		r.Time, r.Count = d.DateTime(encoding.App), int32(d.Signed(encoding.App))
		d.Closing(tagTime)
	}
	return r, d.End()
}

func (r *ReadRangeRequest) readStart(d *encoding.Decoder, tag int) {
	d.Opening(tag)
	r.Start, r.Count = d.Uint32(encoding.App), int32(d.Signed(encoding.App))
	d.Closing(tag)
}

// ReadRangeAck is a part of a list (clause 15.8.1.2).
type ReadRangeAck struct {
	Object   encoding.ObjectID
	Property enum.Property
	Index    constructed.Index
	First    bool // the first item is included
	Last     bool // the last item is included
	More     bool // there was no space for all that was asked for
	Count    uint32
	Items    encoding.Any
	Sequence uint32 // of the first item, if HasSequence

	HasSequence bool
}

// Append writes the answer.
func (a ReadRangeAck) Append(b []byte) []byte {
	b = ReadPropertyRequest{a.Object, a.Property, a.Index}.Append(b)
	b = encoding.AppendBits(b, 3, encoding.Bits(a.First, a.Last, a.More))
	b = encoding.AppendAny(encoding.AppendUnsigned(b, 4, uint64(a.Count)), 5, a.Items)
	if a.HasSequence {
		b = encoding.AppendUnsigned(b, 6, uint64(a.Sequence))
	}
	return b
}

// DecodeReadRangeAck reads the answer.
func DecodeReadRangeAck(p []byte) (ReadRangeAck, error) {
	d := encoding.NewDecoder(p)
	t := readTarget(d)
	a := ReadRangeAck{Object: t.Object, Property: t.Property, Index: t.Index}
	flags := d.Bits(3)
	a.First, a.Last, a.More = flags.Bit(0), flags.Bit(1), flags.Bit(2)
	a.Count, a.Items = d.Uint32(4), d.Any(5)
	if a.HasSequence = d.Has(6); a.HasSequence {
		a.Sequence = d.Uint32(6)
	}
	return a, d.End()
}
