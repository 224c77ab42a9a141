// Package explain tells people what octets of DNP3 (IEEE 1815-2012) mean: frames with
// their headers and whether their CRCs are right, transport segments, and fragments with
// their indications, object headers and values.
//
//	octets ─▶ Decoder ─▶ Node, a tree of lines
//
// It is made for field tools and logs. It keeps nothing but unfinished frames and
// fragments, and what it says is bounded whatever arrives. Texts from devices are quoted.
package explain
