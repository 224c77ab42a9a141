// Package bacnet is the home of a BACnet stack (ANSI/ASHRAE 135-2020) as packages, one a
// layer; it has no code of its own.
//
//	enum      names of object types, properties, units, errors and reasons (clause 21)
//	encoding  tags and primitive types                             (clause 20.2)
//
// They are pure codecs: no sockets, goroutines, clocks or logs.
package bacnet
