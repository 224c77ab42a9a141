// Package conformance replays recorded conversations between a master and an outstation against this library's outstation and compares
// the two. It is for tests: the recordings, captures of the certification procedures for level 2, are not part of this repository (see
// docs/reference/dnp3-conformance.md).
package conformance
