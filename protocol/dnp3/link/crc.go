package link

import "encoding/binary"

// The CRC of IEEE 1815-2012 clause 9: polynomial x^16+x^13+x^12+x^11+x^10+x^8+x^6+x^5+x^2+1,
// bits reflected, start value 0, result inverted, sent low octet first.
const polynomial = 0xA6BC

const (
	blockSize = 16
	crcSize   = 2
)

// crcTable[k][b] is the remainder of octet b followed by k zero octets. Because the
// start value is 0, the remainder of a whole block is the XOR of one independent
// look-up per octet, which the processor can run side by side.
var crcTable = makeTable()

func makeTable() *[blockSize][256]uint16 {
	var t [blockSize][256]uint16
	for b := range t[0] {
		r := uint16(b)
		for range 8 {
			r = r>>1 ^ polynomial&-(r&1)
		}
		t[0][b] = r
	}
	for k := 1; k < blockSize; k++ {
		for b, r := range t[k-1] {
			t[k][b] = r>>8 ^ t[0][byte(r)]
		}
	}
	return &t
}

// sum returns the CRC of at most 16 octets.
func sum(p []byte) uint16 {
	t := crcTable[:len(p)]
	var r uint16
	for i, b := range p {
		r ^= t[len(t)-1-i][b]
	}
	return ^r
}

// copySum copies a block of at most 16 octets to dst and returns its CRC.
func copySum(dst, block []byte) uint16 {
	if len(block) == blockSize {
		return copySum16(dst, block)
	}
	copy(dst, block)
	return sum(block)
}

// copySum16 is copySum for a full block: two loads, two stores, 16 look-ups.
func copySum16(dst, block []byte) uint16 {
	lo := binary.LittleEndian.Uint64(block)
	hi := binary.LittleEndian.Uint64(block[8:])
	binary.LittleEndian.PutUint64(dst, lo)
	binary.LittleEndian.PutUint64(dst[8:], hi)
	return ^(sum8(lo, (*[8][256]uint16)(crcTable[8:])) ^ sum8(hi, (*[8][256]uint16)(crcTable[:8])))
}

// sum8 returns the remainder of eight octets, the first in the low octet of v.
func sum8(v uint64, t *[8][256]uint16) uint16 {
	return t[7][byte(v)] ^ t[6][byte(v>>8)] ^ t[5][byte(v>>16)] ^ t[4][byte(v>>24)] ^
		t[3][byte(v>>32)] ^ t[2][byte(v>>40)] ^ t[1][byte(v>>48)] ^ t[0][byte(v>>56)]
}
