package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"voltbus/fault"
	"voltbus/point"
)

// The envelope: magic, codec, CRC-32C and the payload's length, 16 bytes in all.
const (
	blockMagic  = "VBK1"
	blockHeader = 16
	codecS2     = 1
	codecZstd   = 2

	// MaxBlock is the largest payload in bytes before compression. Larger ones are refused
	// on both sides.
	MaxBlock = 32 << 20
)

// The fields of block.proto.
const (
	fieldOrigin protowire.Number = iota + 1
	fieldSequence
	fieldBefore
	fieldRefused
	fieldCreated
	fieldSamples
	fieldPoints
	fieldPointStep
	fieldTimeStep
	fieldKinds
	fieldQualities
	fieldBits
	fieldTexts
	_ // 14 and 15 are free: their tags take one byte
	_
	fieldFirst
	fieldLeft
	fieldLost
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errShort    = errors.New("the block is cut short")
	errMagic    = errors.New("not a block: it does not begin with VBK1")
	errCodec    = errors.New("the block uses a compression that this version does not know")
	errChecksum = errors.New("the block's checksum does not fit its content")
	errTooLarge = errors.New("the block is larger than 32 MiB")
	errColumns  = errors.New("the block's columns differ in length")
	errIndex    = errors.New("the block refers to a point or text that it does not hold")
	errKind     = errors.New("the block holds a kind of value that this version does not know")
)

// Encoder turns blocks into bytes. It keeps its buffers: use one for each goroutine.
type Encoder struct {
	payload []byte
	column  []byte
	zstd    *zstd.Encoder // created for the first packed block
}

// AppendBlock appends the encoded block to dst. It fails with fault.Invalid if the block's columns are
// inconsistent or it is larger than MaxBlock.
func (e *Encoder) AppendBlock(dst []byte, b *point.Block) ([]byte, error) {
	return e.appendBlock(dst, b, codecS2)
}

// AppendPacked is AppendBlock with a compression that takes less space and more time, for transfers between
// nodes.
func (e *Encoder) AppendPacked(dst []byte, b *point.Block) ([]byte, error) {
	return e.appendBlock(dst, b, codecZstd)
}

func (e *Encoder) appendBlock(dst []byte, b *point.Block, codec byte) ([]byte, error) {
	if err := checkColumns(b); err != nil {
		return nil, fault.E("wire.AppendBlock", fault.Invalid, b.Origin, err)
	}
	e.payload = e.appendPayload(e.payload[:0], b)
	if len(e.payload) > MaxBlock {
		return nil, fault.E("wire.AppendBlock", fault.Invalid, b.Origin, errTooLarge)
	}
	start := len(dst)
	dst = append(dst, blockMagic...)
	dst = append(dst, codec, 0, 0, 0)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.payload)))
	if codec == codecS2 {
		dst = appendS2(dst, e.payload)
	} else {
		dst = e.appendZstd(dst)
	}
	binary.LittleEndian.PutUint32(dst[start+8:], envelopeSum(dst[start:]))
	return dst, nil
}

// packWindow bounds how far back the compression looks, and so its memory.
const packWindow = 1 << 20

func (e *Encoder) appendZstd(dst []byte) []byte {
	if e.zstd == nil {
		e.zstd, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
			zstd.WithWindowSize(packWindow), zstd.WithEncoderCRC(false)) // these options are good
	}
	return e.zstd.EncodeAll(e.payload, dst)
}

func appendS2(dst, src []byte) []byte {
	at := len(dst)
	need := s2.MaxEncodedLen(len(src))
	if cap(dst)-at < need {
		grown := make([]byte, at, at+need)
		copy(grown, dst)
		dst = grown
	}
	return dst[:at+len(s2.Encode(dst[at:at+need], src))]
}

// envelopeSum covers the whole block except the checksum's own four bytes.
func envelopeSum(block []byte) uint32 {
	sum := crc32.Update(0, castagnoli, block[:8])
	return crc32.Update(sum, castagnoli, block[12:])
}

func (e *Encoder) appendPayload(p []byte, b *point.Block) []byte {
	p = appendText(p, fieldOrigin, b.Origin)
	p = appendNumber(p, fieldSequence, b.Sequence)
	p = appendNumber(p, fieldBefore, b.Before)
	p = appendNumber(p, fieldRefused, b.Refused)
	p = appendNumber(p, fieldCreated, uint64(b.Created.UnixMicro()))
	p = appendNumber(p, fieldSamples, uint64(b.Len()))
	for _, path := range b.Points {
		p = appendText(p, fieldPoints, string(path))
	}
	p = e.appendSteps(p, b)
	p = appendKinds(p, b.Kind)
	p = appendQualities(p, b.Quality)
	p = appendBits(p, b.Bits)
	for _, text := range b.Texts {
		p = appendText(p, fieldTexts, text)
	}
	p = appendNumber(p, fieldFirst, b.First)
	p = appendNumber(p, fieldLeft, b.Left)
	return appendBytes(p, fieldLost, []byte(b.Lost))
}

func (e *Encoder) appendSteps(p []byte, b *point.Block) []byte {
	column := e.column[:0]
	var index uint32
	for _, i := range b.Point {
		column = protowire.AppendVarint(column, protowire.EncodeZigZag(int64(i)-int64(index)))
		index = i
	}
	p = appendBytes(p, fieldPointStep, column)
	column = column[:0]
	var last int64
	for _, t := range b.Time {
		column = protowire.AppendVarint(column, protowire.EncodeZigZag(t-last))
		last = t
	}
	e.column = column
	return appendBytes(p, fieldTimeStep, column)
}

func appendKinds(p []byte, kinds []point.Kind) []byte {
	if len(kinds) == 0 {
		return p
	}
	uniform := true
	for _, k := range kinds[1:] {
		if k != kinds[0] {
			uniform = false
			break
		}
	}
	if uniform {
		return appendBytes(p, fieldKinds, []byte{byte(kinds[0])})
	}
	p = protowire.AppendTag(p, fieldKinds, protowire.BytesType)
	p = protowire.AppendVarint(p, uint64(len(kinds)))
	for _, k := range kinds {
		p = append(p, byte(k))
	}
	return p
}

func appendQualities(p []byte, qualities []point.Quality) []byte {
	good := true
	for _, q := range qualities {
		if q != point.Good {
			good = false
			break
		}
	}
	if good {
		return p
	}
	p = protowire.AppendTag(p, fieldQualities, protowire.BytesType)
	p = protowire.AppendVarint(p, uint64(len(qualities)))
	for _, q := range qualities {
		p = append(p, byte(q))
	}
	return p
}

func appendBits(p []byte, bits []uint64) []byte {
	if len(bits) == 0 {
		return p
	}
	p = protowire.AppendTag(p, fieldBits, protowire.BytesType)
	p = protowire.AppendVarint(p, uint64(8*len(bits)))
	for _, v := range bits {
		p = binary.LittleEndian.AppendUint64(p, v)
	}
	return p
}

func appendNumber(p []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return p
	}
	return protowire.AppendVarint(protowire.AppendTag(p, field, protowire.VarintType), v)
}

func appendText(p []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(p, field, protowire.BytesType), s)
}

func appendBytes(p []byte, field protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return p
	}
	return protowire.AppendBytes(protowire.AppendTag(p, field, protowire.BytesType), v)
}

// checkColumns reports whether the columns have equal lengths and valid references.
func checkColumns(b *point.Block) error {
	n := b.Len()
	if len(b.Time) != n || len(b.Kind) != n || len(b.Quality) != n || len(b.Bits) != n {
		return errColumns
	}
	for _, i := range b.Point {
		if int(i) >= len(b.Points) {
			return errIndex
		}
	}
	for i, k := range b.Kind {
		if k > point.Text {
			return fmt.Errorf("%w: %d", errKind, k)
		}
		if k == point.Text && b.Bits[i] >= uint64(len(b.Texts)) {
			return errIndex
		}
	}
	return nil
}
