// Package kernel runs a world of actors in virtual time: one clock, events in a fixed order, links that delay and lose
// messages, and random numbers that follow from one seed. It knows neither models nor agents; both are actors.
//
// Two runs with the same actors, links and seed handle the same events in the same order, and have the same Digest.
// Events of one moment are handled in the order in which they were scheduled. A kernel belongs to one goroutine; only
// its Pacer may be used from others.
package kernel
