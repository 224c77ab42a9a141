// Package transport splits application fragments into transport segments and reassembles them (IEEE 1815-2012 clause 8). A segment is one
// header octet and 1–249 octets of the fragment; each travels in one data link frame.
//
//	bit 7   bit 6   bits 5–0
//	FIN     FIR     sequence
//
// [AppendFragment] writes all frames of a fragment into one buffer. [Reassembler]
// works in a buffer lent by the caller and never grows it. Nothing here allocates,
// blocks or logs.
package transport
