package transport

import (
	"errors"
	"fmt"

	"voltbus/protocol/dnp3/link"
)

var errEmpty = errors.New("segment fragment: it has no octets")

// Segmenter cuts one fragment into segments. A link that confirms each frame
// takes them one by one; others use [AppendFragment].
type Segmenter struct {
	rest  []byte
	first Header
	next  Sequence
}

// NewSegmenter returns a segmenter for fragment, whose first segment gets the
// sequence number first, 0–63. The fragment must stay unchanged while in use.
func NewSegmenter(fragment []byte, first Sequence) Segmenter {
	return Segmenter{rest: fragment, first: FIR, next: first & Sequence(seqMask)}
}

// More reports whether there is a segment left.
func (s *Segmenter) More() bool { return len(s.rest) > 0 }

// Sequence returns the number of the next segment, to be kept for the fragment
// that follows when More is false.
func (s *Segmenter) Sequence() Sequence { return s.next }

// Append appends the next segment with its header to dst, at most 250 octets, or
// nothing when there is none left.
func (s *Segmenter) Append(dst []byte) []byte {
	if len(s.rest) == 0 {
		return dst
	}
	h, data := s.cut()
	return append(append(dst, byte(h)), data...)
}

// cut takes the next segment, of which there is one.
func (s *Segmenter) cut() (Header, []byte) {
	n := min(len(s.rest), MaxData)
	h, data := s.first|Header(s.next), s.rest[:n]
	if n == len(s.rest) {
		h |= FIN
	}
	s.rest, s.first, s.next = s.rest[n:], 0, s.next.Next()
	return h, data
}

// Size returns the octets on the wire of a fragment of n octets with all its
// segments and frames.
func Size(n int) int {
	full, rest := n/MaxData, n%MaxData
	size := full * link.FrameSize(HeaderSize+MaxData)
	if rest > 0 {
		size += link.FrameSize(HeaderSize + rest)
	}
	return size
}

// AppendFragment appends all frames of fragment to dst, so that they leave in one
// write, and returns the extended slice and the sequence number for the fragment
// that follows. It allocates only where dst lacks Size(len(fragment)) octets of
// capacity. The header's function must be one that needs no acknowledgement for
// each frame. The only error is an empty fragment; dst is then unchanged.
func AppendFragment(dst []byte, h link.Header, first Sequence, fragment []byte) ([]byte, Sequence, error) {
	if len(fragment) == 0 {
		return dst, first, errEmpty
	}
	cutter := NewSegmenter(fragment, first)
	for cutter.More() {
		var err error
		lead, data := cutter.cut()
		if dst, err = link.AppendSegment(dst, h, byte(lead), data); err != nil {
			return dst, cutter.Sequence(), fmt.Errorf("segment fragment: %w", err)
		}
	}
	return dst, cutter.Sequence(), nil
}
