// Package master is the master side of DNP3 (IEEE 1815-2012): an [Association] with one
// outstation, which starts it up, polls it, takes its reports and carries out requests
// one after the other.
//
//	application ─ Submit, Do ─▶ Association ─▶ station.Port ─▶ channel
//	            ◀─ Handler ────
//
// A line with several outstations has an Association for each. An Association is a pure
// state machine, see package station: it opens nothing, starts nothing and reads no
// clock. What arrives from outstations is not trusted.
package master
