package link

import (
	"testing"

	"pgregory.net/rapid"
)

// bitwise is the definition of the CRC, one bit at a time.
func bitwise(p []byte) uint16 {
	var r uint16
	for _, b := range p {
		r ^= uint16(b)
		for range 8 {
			low := r & 1
			r >>= 1
			if low == 1 {
				r ^= polynomial
			}
		}
	}
	return ^r
}

func TestTheCRCOfTheCheckStringIsTheCataloguedOne(t *testing.T) {
	if got := sum([]byte("123456789")); got != 0xEA82 {
		t.Errorf("CRC-16/DNP of 123456789 is %04X, want EA82", got)
	}
}

func TestTheSlicedCRCEqualsTheBitwiseDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.SliceOfN(rapid.Byte(), 0, blockSize).Draw(t, "block")
		copied := make([]byte, len(block))
		want := bitwise(block)
		if got := sum(block); got != want {
			t.Fatalf("sum is %04X, want %04X", got, want)
		}
		if got := copySum(copied, block); got != want {
			t.Fatalf("copySum is %04X, want %04X", got, want)
		}
		if string(copied) != string(block) {
			t.Fatalf("copied % X, want % X", copied, block)
		}
	})
}
