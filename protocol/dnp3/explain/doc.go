// Package explain explains bytes of DNP3 (IEEE 1815-2012) to people: frames with their headers and CRC checks, transport segments, and
// fragments with their indications, object headers and values.
//
//	octets ─▶ Decoder ─▶ Node, a tree of lines
//
// It is made for field tools and logs. It keeps nothing but unfinished frames and
// fragments, and what it says is bounded whatever arrives. Texts from devices are quoted.
package explain
