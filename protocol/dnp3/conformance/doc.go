// Package conformance replays recorded conversations between a master and an outstation
// against the outstation of this library and compares what the two say. It is for tests:
// the recordings, captures of the certification procedures for level 2, are not part of
// this repository (see docs/reference/dnp3-conformance.md).
package conformance
