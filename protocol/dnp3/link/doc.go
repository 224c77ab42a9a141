// Package link encodes and decodes the data link frames of DNP3 (IEEE 1815-2012
// clause 9): the FT3 frame with its ten-octet header, its control octet and a
// CRC after the header and after every block of at most 16 user octets.
//
//	start 05 64 | length | control | destination | source | CRC   (10 octets)
//	block of 1–16 user octets | CRC                               (up to 16 times)
//
// The package is a pure codec: it opens nothing, starts nothing, logs nothing and
// allocates only when a caller's buffer is too small. [AppendFrame] writes a
// frame behind whatever a buffer already holds, so that all frames of a fragment
// leave in one write. [Parser] finds frames in a stream and survives any garbage.
package link
