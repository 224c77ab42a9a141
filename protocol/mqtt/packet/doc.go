// Package packet is the codec of MQTT's control packets (MQTT 5.0 §2 and §3, and 3.1.1): all
// fifteen types, all properties, all reason codes.
//
// The way in is [Split], or [Stream] for what arrives in pieces, then one of the methods of
// [Decoder]. What it returns is part of the bytes it was given: nothing is copied and, but for
// lists of filters and wills, nothing is allocated. Clone what outlives the buffer. The way out
// are the Append methods, which append to a slice of the caller.
//
// Decoding is strict: what breaks a rule of the standard returns an [*Error] with the reason code
// to answer with and the clause. Encoding trusts its caller with the contents of texts and checks
// only what would make another packet of it: lengths.
//
// A 3.1.1 packet decodes to the same types; it has no properties, and its return codes appear as
// the reason codes of MQTT 5.0 with the same meaning.
package packet
