// Package encoding reads and writes the data of BACnet application messages (ASHRAE 135
// clause 20.2): tags, the thirteen primitive types, context tags, and constructed data
// between an opening and a closing tag.
//
//	tag octet: number (4 bits) | class (1 bit) | length, value or type (3 bits)
//
// A [Decoder] walks over data and keeps the first error; functions named Append… write.
// Both take a tag number: [App] stands for the type's own application tag, 0 and above
// are context tags. What a caller does not know stays encoded, as [Any], and can be
// forwarded or shown as it is.
//
// The package is a pure codec: no sockets, goroutines, clocks or logs. It allocates no
// more than the data it is given, and follows constructed data [MaxDepth] deep.
package encoding
