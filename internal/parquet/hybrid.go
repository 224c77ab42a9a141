package parquet

import (
	"encoding/binary"
	"math/bits"
)

// eight is how many values a bit-packed run has a multiple of.
const eight = 8

// appendHybrid appends values of a number of bits each as runs: a value that is repeated, or values that are packed (encoding RLE of
// Apache Parquet).
func appendHybrid(b []byte, values []uint32, width int) []byte {
	for i := 0; i < len(values); {
		if n := repeats(values[i:]); n >= eight {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for shift := 0; shift < width; shift += eight {
				b = append(b, byte(values[i]>>shift))
			}
			i += n
			continue
		}
		from := i
		for i < len(values) && (i == from || repeatsEight(values[i:]) < eight) {
			i = min(i+eight, len(values))
		}
		b = appendPacked(b, values[from:i], width)
	}
	return b
}

func repeats(values []uint32) int {
	n := 1
	for n < len(values) && values[n] == values[0] {
		n++
	}
	return n
}

func repeatsEight(values []uint32) int { return repeats(values[:min(eight, len(values))]) }

// appendPacked appends a bit-packed run. What is missing to a multiple of eight is 0.
func appendPacked(b []byte, values []uint32, width int) []byte {
	groups := (len(values) + eight - 1) / eight
	b = binary.AppendUvarint(b, uint64(groups)<<1|1)
	var pending uint64
	have := 0
	for i := range groups * eight {
		if i < len(values) {
			pending |= uint64(values[i]) << have
		}
		for have += width; have >= eight; have -= eight {
			b = append(b, byte(pending))
			pending >>= eight
		}
	}
	return b
}

// widthOf returns how many bits hold each number below n.
func widthOf(n int) int { return bits.Len(uint(max(n, 2) - 1)) }
