package transport

// Sizes in octets.
const (
	// HeaderSize is the size of the transport header.
	HeaderSize = 1
	// MaxData is the most octets of a fragment that one segment carries.
	MaxData = 249
)

// Sequence is a segment's sequence number, 0–63.
type Sequence uint8

// Next returns the sequence number after s; 0 follows 63.
func (s Sequence) Next() Sequence { return (s + 1) & Sequence(seqMask) }

// Header is the header octet of a segment (clause 8).
type Header uint8

// Bits of the header octet.
const (
	// FIN marks the last segment of a fragment.
	FIN Header = 0x80
	// FIR marks the first segment of a fragment.
	FIR Header = 0x40

	seqMask Header = 0x3F
)

// First reports whether the segment starts a fragment.
func (h Header) First() bool { return h&FIR != 0 }

// Final reports whether the segment ends a fragment.
func (h Header) Final() bool { return h&FIN != 0 }

// Sequence returns the segment's sequence number.
func (h Header) Sequence() Sequence { return Sequence(h & seqMask) }
