package link

import (
	"bytes"
	"encoding/binary"
)

// Counters says what a [Parser] met since it was made. Each counts up for ever.
type Counters struct {
	// Frames is the number of intact frames.
	Frames uint64
	// HeaderErrors is the number of headers with a wrong CRC.
	HeaderErrors uint64
	// BlockErrors is the number of frames dropped for a wrong CRC behind the header.
	BlockErrors uint64
	// LengthErrors is the number of headers whose length octet is below five.
	LengthErrors uint64
	// SkippedOctets is the number of octets that belonged to no intact frame.
	SkippedOctets uint64
}

// Parser finds frames in a stream of octets. The zero value is ready. It keeps
// nothing but its counters: unfinished frames stay in the caller's buffer, which
// can go back to a pool whenever it is empty. Not for concurrent use.
type Parser struct {
	counters Counters
}

// Counters returns what the parser met so far.
func (p *Parser) Counters() Counters { return p.counters }

// Next looks for the first intact frame in src. It returns how many octets of src
// are done with, whether or not there was a frame, and the frame; its payload
// lies in room and is valid until room is used again.
//
// Garbage is skipped up to the next start octets 05 64. A frame with a wrong CRC
// costs its two start octets only, so that a good frame behind a torn one is
// found. When ok is false the caller reads more behind src[n:], which is then
// shorter than MaxFrame: a buffer of MaxFrame octets always makes progress.
func (p *Parser) Next(src []byte, room *[MaxPayload]byte) (frame Frame, n int, ok bool) {
	for {
		n += p.skip(skipToStart(src[n:]))
		rest := src[n:]
		if len(rest) < HeaderSize {
			return Frame{}, n, false
		}
		if !p.headerIntact(rest) {
			n += p.skip(2)
			continue
		}
		payload := int(rest[2]) - lengthBase
		size := FrameSize(payload)
		if len(rest) < size {
			return Frame{}, n, false
		}
		if !takeBlocks(room[:payload], rest[HeaderSize:size]) {
			p.counters.BlockErrors++
			n += p.skip(2)
			continue
		}
		p.counters.Frames++
		return Frame{Header: header(rest), Payload: room[:payload]}, n + size, true
	}
}

func (p *Parser) skip(n int) int {
	p.counters.SkippedOctets += uint64(n)
	return n
}

func (p *Parser) headerIntact(h []byte) bool {
	switch {
	case sum(h[:8]) != binary.LittleEndian.Uint16(h[8:]):
		p.counters.HeaderErrors++
		return false
	case h[2] < lengthBase:
		p.counters.LengthErrors++
		return false
	default:
		return true
	}
}

// header decodes the first eight octets of a frame.
func header(p []byte) Header {
	return Header{
		Control:     Control(p[3]),
		Destination: Address(binary.LittleEndian.Uint16(p[4:])),
		Source:      Address(binary.LittleEndian.Uint16(p[6:])),
	}
}

// skipToStart returns how many octets precede the first 05 64 in p, or a final 05
// that may become one.
func skipToStart(p []byte) int {
	at := 0
	for {
		i := bytes.IndexByte(p[at:], start0)
		if i < 0 {
			return len(p)
		}
		at += i
		if at+1 == len(p) || p[at+1] == start1 {
			return at
		}
		at++
	}
}
