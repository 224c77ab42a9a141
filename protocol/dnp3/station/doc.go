// Package station contains what masters and outstations share below the application layer (IEEE 1815-2012 clauses 8 and 9): a [Machine]
// handles fragments, its [Port] turns them into frames and back, and a [Mux] finds the port that a frame on a shared line is addressed
// to.
//
//	octets ─▶ Mux ─▶ Port ─▶ Machine ─▶ Output ─▶ octets
//
// Everything is a pure state machine: it is given what arrived and the time, and
// it leaves the octets to be written in an [Output]. There are no sockets, goroutines
// or timers here; package channel adds them.
package station
