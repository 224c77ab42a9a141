// Package bacnet is the home of a BACnet stack (ANSI/ASHRAE 135-2020) as packages, one a
// layer; it has no code of its own.
//
//	enum      names of object types, properties, units, errors        (clause 21)
//	bvlc      UDP datagrams, broadcasts, foreign devices              (annex J)
//	npdu      networks, routers                                       (clause 6)
//	apdu      kinds of messages, invoke ids, segments                 (clause 20.1)
//	encoding  tags and primitive types                                (clause 20.2)
//
// They are pure codecs: no sockets, goroutines, clocks or logs.
package bacnet
