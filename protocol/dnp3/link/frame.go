package link

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Sizes in octets (clause 9).
const (
	// HeaderSize is the size of the header with its CRC, and of an empty frame.
	HeaderSize = 10
	// MaxPayload is the most user octets a frame carries.
	MaxPayload = 250
	// MaxFrame is the size of a frame with MaxPayload user octets.
	MaxFrame = HeaderSize + MaxPayload + (MaxPayload+blockSize-1)/blockSize*crcSize
)

const (
	start0 = 0x05
	start1 = 0x64
	// lengthBase is what the length octet counts beside user octets: control,
	// destination, source.
	lengthBase = 5
)

// Header is what a frame says beside its user octets.
type Header struct {
	Control     Control
	Destination Address
	Source      Address
}

// Frame is a received frame.
type Frame struct {
	Header
	// Payload holds 0–250 user octets, CRCs removed.
	Payload []byte
}

// FrameSize returns the octets on the wire of a frame with n user octets, 0–250.
func FrameSize(n int) int {
	return HeaderSize + n + (n+blockSize-1)/blockSize*crcSize
}

// AppendFrame appends a frame with the user octets of payload, 0–250, to dst and
// returns the extended slice. It allocates only where dst lacks capacity. The
// only error is a payload that is too long; dst then comes back unchanged.
func AppendFrame(dst []byte, h Header, payload []byte) ([]byte, error) {
	if len(payload) > MaxPayload {
		return dst, fmt.Errorf("encode link frame: %d user octets, at most %d fit", len(payload), MaxPayload)
	}
	at := len(dst)
	dst = slices.Grow(dst, FrameSize(len(payload)))[:at+FrameSize(len(payload))]
	putHeader(dst[at:at+HeaderSize], h, len(payload))
	putBlocks(dst[at+HeaderSize:], payload)
	return dst, nil
}

// AppendSegment appends a frame whose user octets are lead and then data, 0–249 octets,
// as [AppendFrame] does.
func AppendSegment(dst []byte, h Header, lead byte, data []byte) ([]byte, error) {
	size := 1 + len(data)
	if size > MaxPayload {
		return dst, fmt.Errorf("encode link frame: %d user octets, at most %d fit", size, MaxPayload)
	}
	at := len(dst)
	dst = slices.Grow(dst, FrameSize(size))[:at+FrameSize(size)]
	putHeader(dst[at:at+HeaderSize], h, size)
	var first [blockSize]byte
	first[0] = lead
	n := copy(first[1:], data)
	blocks := dst[at+HeaderSize:]
	putBlocks(blocks, first[:1+n])
	if len(data) > n {
		putBlocks(blocks[blockSize+crcSize:], data[n:])
	}
	return dst, nil
}

func putHeader(dst []byte, h Header, payload int) {
	dst[0], dst[1] = start0, start1
	dst[2] = byte(lengthBase + payload)
	dst[3] = byte(h.Control)
	binary.LittleEndian.PutUint16(dst[4:], uint16(h.Destination))
	binary.LittleEndian.PutUint16(dst[6:], uint16(h.Source))
	binary.LittleEndian.PutUint16(dst[8:], sum(dst[:8]))
}

func putBlocks(dst, payload []byte) {
	for len(payload) >= blockSize {
		crc := copySum16(dst, payload)
		binary.LittleEndian.PutUint16(dst[blockSize:], crc)
		dst, payload = dst[blockSize+crcSize:], payload[blockSize:]
	}
	if len(payload) > 0 {
		crc := copySum(dst, payload)
		binary.LittleEndian.PutUint16(dst[len(payload):], crc)
	}
}

// takeBlocks copies len(dst) user octets out of the blocks in src and reports
// whether every CRC is right.
func takeBlocks(dst, src []byte) bool {
	for len(dst) >= blockSize {
		if copySum16(dst, src) != binary.LittleEndian.Uint16(src[blockSize:]) {
			return false
		}
		dst, src = dst[blockSize:], src[blockSize+crcSize:]
	}
	if n := len(dst); n > 0 {
		return copySum(dst, src[:n]) == binary.LittleEndian.Uint16(src[n:])
	}
	return true
}

// Check reports what the standard forbids in an otherwise intact frame: an
// unknown function code, FCV where it must not be or missing where it must be,
// user octets with a function that carries none or none with one that does, or a
// source address no device can have. The octet named in the error counts from
// the start of the frame. A station answers an unknown primary function with
// NotSupported and drops the rest.
func (f Frame) Check() error {
	function := f.Control.Function()
	switch {
	case !function.known():
		return fmt.Errorf("link frame: unknown %v at octet 3", function)
	case function.Primary() && f.Control.FCV() != function.wantsFCV():
		return fmt.Errorf("link frame: FCV is %t in %v at octet 3", f.Control.FCV(), function)
	case function.UserData() != (len(f.Payload) > 0):
		return fmt.Errorf("link frame: %d user octets in %v, length at octet 2", len(f.Payload), function)
	case !f.Source.Individual():
		return fmt.Errorf("link frame: source %v at octet 6 is no device address", f.Source)
	default:
		return nil
	}
}
