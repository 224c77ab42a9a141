// Package dnp3 contains a DNP3 stack (IEEE 1815-2012), one package per layer; it has no code of its own.
//
//	channel     TCP, TLS, UDP, serial              ⇄ octets; goroutines and timers
//	master      an association with an outstation  ⇄ fragments
//	outstation  a database, sessions with masters  ⇄ fragments
//	station     link and transport layer of both   ⇄ frames
//	folder      a directory of the disk            ⇄ files of an outstation
//
// A program makes a master association or an outstation session, puts it behind a
// station port and hands that to a channel. Below channel nothing opens, starts, waits
// or reads a clock: masters and outstations are state machines that are given what
// arrived and what time it is.
//
//	object     points, commands, times, attributes  ⇄ octets of one object
//	file       file commands, blocks, directories   ⇄ octets of one object
//	app        objects under object headers         ⇄ fragments
//	transport  fragments                            ⇄ segments
//	link       segments                             ⇄ frames with CRCs
//
// These are pure codecs: no sockets, goroutines, clocks or logs. The way out is
// [voltbus/protocol/dnp3/app.Writer], then
// [voltbus/protocol/dnp3/transport.AppendFragment], then one write. The way in is
// [voltbus/protocol/dnp3/link.Parser], then
// [voltbus/protocol/dnp3/transport.Reassembler], then
// [voltbus/protocol/dnp3/app.Parse].
package dnp3
