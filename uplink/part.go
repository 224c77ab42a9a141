package uplink

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"voltbus/fault"
)

// MaxWhole bounds a block sent in parts: more than the log accepts.
const MaxWhole = 16 << 20

// Sum identifies blocks that come in parts.
type Sum [16]byte

// SumOf returns the sum of an encoded block.
func SumOf(block []byte) Sum {
	whole := sha256.Sum256(block)
	return Sum(whole[:len(Sum{})])
}

// Part is a piece of a block that would occupy the link for too long: nothing could overtake it, not even
// keep-alives, and an interruption would restart it. A parent keeps received parts, even across an
// interruption.
type Part struct {
	Epoch    uint64 // as in a Frame
	Previous uint64 // as in a Frame
	Origin   string
	Sequence uint64 // of the block
	Sum      Sum    // of the whole block, encoded
	Size     uint64 // bytes of it
	From     uint64 // offset of Data in it
	Data     []byte // empty in the first one, which asks how much the parent has
}

// Held answers a part: how many bytes of the block the parent has.
type Held struct {
	Sequence uint64 `json:"sequence"`
	Bytes    uint64 `json:"octets"`
}

// partVersion is the first byte of a part, in place of a frame's version.
const partVersion = 2

// IsPart reports whether received data is a part, not a frame.
func IsPart(data []byte) bool { return len(data) > 0 && data[0] == partVersion }

// Append appends the part to dst.
func (p *Part) Append(dst []byte) []byte {
	dst = append(dst, partVersion)
	for _, number := range []uint64{p.Epoch, p.Previous, p.Sequence, p.Size, p.From, uint64(len(p.Origin))} {
		dst = binary.AppendUvarint(dst, number)
	}
	dst = append(dst, p.Origin...)
	dst = append(dst, p.Sum[:]...)
	return append(dst, p.Data...)
}

// ParsePart parses a part. Its Data is a slice of data. It fails with fault.Corrupt.
func ParsePart(data []byte) (p Part, err error) {
	const op = "uplink.ParsePart"
	if !IsPart(data) {
		return p, fault.E(op, fault.Corrupt, "", errFrame)
	}
	data = data[1:]
	var name uint64
	for _, number := range []*uint64{&p.Epoch, &p.Previous, &p.Sequence, &p.Size, &p.From, &name} {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return p, fault.E(op, fault.Corrupt, "", errFrame)
		}
		*number, data = v, data[n:]
	}
	if name > uint64(len(data)) || uint64(len(data))-name < uint64(len(p.Sum)) {
		return p, fault.E(op, fault.Corrupt, "", errFrame)
	}
	p.Origin, data = string(data[:name]), data[name:]
	p.Data = data[copy(p.Sum[:], data):]
	if p.Size > MaxWhole || p.From > p.Size || uint64(len(p.Data)) > p.Size-p.From {
		return p, fault.E(op, fault.Corrupt, p.Origin, fmt.Errorf("%w: bytes %d to %d of a block of %d, which may have %d",
			errFrame, p.From, p.From+uint64(len(p.Data)), p.Size, MaxWhole))
	}
	return p, nil
}
