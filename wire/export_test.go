package wire

import "encoding/binary"

// Seal puts a payload into a valid envelope, so that fuzzing reaches what lies behind the checksum.
func Seal(payload []byte) []byte {
	out := append([]byte(blockMagic), codecS2, 0, 0, 0, 0, 0, 0, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(payload)))
	out = appendS2(out, payload)
	binary.LittleEndian.PutUint32(out[8:], envelopeSum(out))
	return out
}

// Resum makes the checksum of an envelope right.
func Resum(data []byte) []byte {
	binary.LittleEndian.PutUint32(data[8:], envelopeSum(data))
	return data
}
