package uplink

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"voltbus/fault"
)

// MaxWhole bounds a block that goes in parts: more than the log takes.
const MaxWhole = 16 << 20

// Sum tells blocks apart that come in parts.
type Sum [16]byte

// SumOf returns the sum of an encoded block.
func SumOf(block []byte) Sum {
	whole := sha256.Sum256(block)
	return Sum(whole[:len(Sum{})])
}

// Part is a piece of a block that the link would carry for too long: nothing could pass it, not even
// the signs of life, and a cut would begin it anew. A parent keeps the parts that came, also over a cut.
type Part struct {
	Epoch    uint64 // as of a Frame
	Previous uint64 // as of a Frame
	Origin   string
	Sequence uint64 // of the block
	Sum      Sum    // of the whole block, encoded
	Size     uint64 // bytes of it
	From     uint64 // where in it Data stands
	Data     []byte // empty in the first one, which asks how much is there
}

// Held answers a part: how many bytes of the block are there.
type Held struct {
	Sequence uint64 `json:"sequence"`
	Bytes    uint64 `json:"octets"`
}

// partVersion is the first byte of a part, where a frame has its version.
const partVersion = 2

// IsPart reports whether what came is a part, and no frame.
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

// ParsePart reads a part. Its Data is a part of data. It fails with fault.Corrupt.
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
