package wire

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"voltbus/fault"
	"voltbus/point"
)

// Decoder turns bytes into blocks. It keeps its buffers: use one for each goroutine.
type Decoder struct {
	payload []byte
	zstd    *zstd.Decoder // created for the first packed block
}

// DecodeBlock decodes data into b, which it resets first. It fails with fault.Corrupt if data is not a whole,
// undamaged block; b is then unusable. The paths and texts of b share one allocation: clone those kept longer
// than the block.
func (d *Decoder) DecodeBlock(data []byte, b *point.Block) error {
	b.Reset()
	if err := d.open(data); err != nil {
		return fault.E("wire.DecodeBlock", fault.Corrupt, "", err)
	}
	if err := decodePayload(d.payload, b); err != nil {
		return fault.E("wire.DecodeBlock", fault.Corrupt, b.Origin, err)
	}
	return nil
}

// open checks the envelope and decompresses the payload.
func (d *Decoder) open(data []byte) error {
	if len(data) < blockHeader {
		return errShort
	}
	if string(data[:4]) != blockMagic {
		return errMagic
	}
	if binary.LittleEndian.Uint32(data[8:]) != envelopeSum(data) {
		return errChecksum
	}
	size := binary.LittleEndian.Uint32(data[12:])
	if size > MaxBlock {
		return errTooLarge
	}
	switch data[4] {
	case codecS2:
	case codecZstd:
		return d.openZstd(data[blockHeader:], int(size))
	default:
		return errCodec
	}
	if n, err := s2.DecodedLen(data[blockHeader:]); err != nil || n != int(size) {
		return errShort
	}
	d.payload = slices.Grow(d.payload[:0], int(size))[:size]
	payload, err := s2.Decode(d.payload, data[blockHeader:])
	if err != nil {
		return fmt.Errorf("unpack the block: %w", err)
	}
	d.payload = payload
	return nil
}

// openZstd decompresses a payload of a given size.
func (d *Decoder) openZstd(data []byte, size int) error {
	if d.zstd == nil {
		var err error
		if d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxBlock), zstd.WithDecoderLowmem(true)); err != nil {
			return fmt.Errorf("make a decoder: %w", err)
		}
	}
	payload, err := d.zstd.DecodeAll(data, slices.Grow(d.payload[:0], size)[:0])
	if err != nil {
		return fmt.Errorf("unpack the block: %w", err)
	}
	d.payload = payload
	if len(payload) != size {
		return errShort
	}
	return nil
}

// columns are the raw columns of a payload, before they are decoded into a block.
type columns struct {
	samples    uint64
	pointStep  []byte
	timeStep   []byte
	kinds      []byte
	qualities  []byte
	bits       []byte
	pointSpans []span
	textSpans  []span
}

// span is the position of a string in the payload.
type span struct{ from, to int }

func decodePayload(p []byte, b *point.Block) error {
	b.Created = time.UnixMicro(0).UTC() // the meaning of an absent field
	var c columns
	if err := c.scan(p, b); err != nil {
		return err
	}
	return c.unpack(p, b)
}

// scan iterates over the fields once.
func (c *columns) scan(p []byte, b *point.Block) error {
	for at := 0; at < len(p); {
		field, kind, n := protowire.ConsumeTag(p[at:])
		if n < 0 {
			return errShort
		}
		at += n
		switch kind {
		case protowire.VarintType:
			v, n := protowire.ConsumeVarint(p[at:])
			if n < 0 {
				return errShort
			}
			at += n
			c.number(b, field, v)
		case protowire.BytesType:
			v, n := protowire.ConsumeBytes(p[at:])
			if n < 0 {
				return errShort
			}
			at += n
			c.bytes(b, field, v, span{from: at - len(v), to: at})
		default:
			n := protowire.ConsumeFieldValue(field, kind, p[at:])
			if n < 0 {
				return errShort
			}
			at += n
		}
	}
	return nil
}

func (c *columns) number(b *point.Block, field protowire.Number, v uint64) {
	switch field {
	case fieldSequence:
		b.Sequence = v
	case fieldBefore:
		b.Before = v
	case fieldRefused:
		b.Refused = v
	case fieldCreated:
		b.Created = time.UnixMicro(int64(v)).UTC()
	case fieldSamples:
		c.samples = v
	case fieldFirst:
		b.First = v
	case fieldLeft:
		b.Left = v
	}
}

func (c *columns) bytes(b *point.Block, field protowire.Number, v []byte, at span) {
	switch field {
	case fieldOrigin:
		b.Origin = string(v)
	case fieldPoints:
		c.pointSpans = append(c.pointSpans, at)
	case fieldPointStep:
		c.pointStep = v
	case fieldTimeStep:
		c.timeStep = v
	case fieldKinds:
		c.kinds = v
	case fieldQualities:
		c.qualities = v
	case fieldBits:
		c.bits = v
	case fieldTexts:
		c.textSpans = append(c.textSpans, at)
	case fieldLost:
		b.Lost = string(v)
	}
}

// unpack fills the block's columns. Every sample takes at least ten bytes of payload, so a malicious count
// cannot request more memory than was sent.
func (c *columns) unpack(p []byte, b *point.Block) error {
	n := int(c.samples)
	if c.samples > uint64(len(p)) || len(c.bits) != 8*n ||
		(len(c.kinds) != n && (len(c.kinds) != 1 || n == 0)) ||
		(len(c.qualities) != n && len(c.qualities) != 0) {
		return errColumns
	}
	c.unpackStrings(p, b)
	b.Point = slices.Grow(b.Point, n)[:n]
	b.Time = slices.Grow(b.Time, n)[:n]
	b.Kind = slices.Grow(b.Kind, n)[:n]
	b.Quality = slices.Grow(b.Quality, n)[:n]
	b.Bits = slices.Grow(b.Bits, n)[:n]
	if err := unpackPoints(c.pointStep, b.Point, len(b.Points)); err != nil {
		return err
	}
	if err := unpackTimes(c.timeStep, b.Time); err != nil {
		return err
	}
	for i := range b.Bits {
		b.Bits[i] = binary.LittleEndian.Uint64(c.bits[8*i:])
	}
	clear(b.Quality)
	for i, q := range c.qualities {
		b.Quality[i] = point.Quality(q)
	}
	return c.unpackKinds(b)
}

// unpackStrings converts the payload to one string and slices all paths and texts from it.
func (c *columns) unpackStrings(p []byte, b *point.Block) {
	if len(c.pointSpans)+len(c.textSpans) == 0 {
		return
	}
	first, last := len(p), 0
	for _, spans := range [][]span{c.pointSpans, c.textSpans} {
		if len(spans) > 0 {
			first = min(first, spans[0].from)
			last = max(last, spans[len(spans)-1].to)
		}
	}
	all := string(p[first:last])
	for _, s := range c.pointSpans {
		b.Points = append(b.Points, point.Path(all[s.from-first:s.to-first]))
	}
	for _, s := range c.textSpans {
		b.Texts = append(b.Texts, all[s.from-first:s.to-first])
	}
}

func (c *columns) unpackKinds(b *point.Block) error {
	texts := uint64(len(b.Texts))
	for i := range b.Kind {
		k := point.Kind(c.kinds[0])
		if len(c.kinds) > 1 {
			k = point.Kind(c.kinds[i])
		}
		if k > point.Text {
			return fmt.Errorf("%w: %d", errKind, k)
		}
		if k == point.Text && b.Bits[i] >= texts {
			return errIndex
		}
		b.Kind[i] = k
	}
	return nil
}

func unpackPoints(column []byte, out []uint32, points int) error {
	index := int64(0)
	for i := range out {
		v, n := varint(column)
		if n <= 0 {
			return errShort
		}
		column = column[n:]
		index += protowire.DecodeZigZag(v)
		if index < 0 || index >= int64(points) {
			return errIndex
		}
		out[i] = uint32(index)
	}
	if len(column) != 0 {
		return errColumns
	}
	return nil
}

func unpackTimes(column []byte, out []int64) error {
	last := int64(0)
	for i := range out {
		v, n := varint(column)
		if n <= 0 {
			return errShort
		}
		column = column[n:]
		last += protowire.DecodeZigZag(v)
		out[i] = last
	}
	if len(column) != 0 {
		return errColumns
	}
	return nil
}

// varint is protowire.ConsumeVarint with a short cut for the common single byte.
func varint(p []byte) (uint64, int) {
	if len(p) > 0 && p[0] < 0x80 {
		return uint64(p[0]), 1
	}
	return protowire.ConsumeVarint(p)
}
