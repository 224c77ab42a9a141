// Package bacnet contains a BACnet stack (ANSI/ASHRAE 135-2020), one package per layer; it has no code of its own.
//
//	server       a device: objects that others read, command and watch
//	client       many devices over one socket: reads, writes, watches, discovery
//	ip           UDP sockets, broadcasts, foreign devices           (annex J)
//	transaction  invoke ids, repetition, segmentation               (clause 5.4)
//	service      parameters of services                             (clauses 13 to 16)
//	constructed  schedules, time stamps, log records, references    (clause 21)
//	encoding     tags and primitive types                           (clause 20.2)
//	enum         names of object types, properties, units, errors   (clause 21)
//	apdu         kinds of messages, invoke ids, segments            (clause 20.1)
//	npdu         networks, routers                                  (clause 6)
//	bvlc         UDP datagrams, broadcasts, foreign devices         (annex J)
//
// Below ip nothing opens, starts, waits or reads a clock: transaction is a state machine that is
// told what arrived and what time it is, and all packages under it are pure codecs. Nothing logs.
package bacnet
