package postgres

import (
	"encoding/binary"
	"io"
)

// messageReader passes on the server's messages: a letter, a length of four bytes, which includes itself, and the
// content. It fails with errRow if one is longer than a row may be, before holding it in memory.
type messageReader struct {
	in   io.Reader
	head [5]byte
	have int   // bytes of head
	left int64 // bytes of the message after its head
}

// Read implements io.Reader.
func (r *messageReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		if r.have < len(r.head) {
			k := copy(r.head[r.have:], rest)
			rest, r.have = rest[k:], r.have+k
			if r.have == len(r.head) {
				r.left = int64(binary.BigEndian.Uint32(r.head[1:])) - 4
			}
			if r.left > maxRow+maxColumns*4 {
				return 0, errRow
			}
		}
		k := min(r.left, int64(len(rest)))
		rest, r.left = rest[k:], r.left-k
		if r.left == 0 && r.have == len(r.head) {
			r.have = 0
		}
	}
	return n, err
}
