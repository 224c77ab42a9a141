// Package control defines the types of control: commands, decisions, and the states of points. Package model decides what a point is set
// to when several people and programs command it: a pure state machine without goroutines, clocks and I/O.
//
// # Three answers to three questions
//
// Which value wins? Each writable point has a priority array of 16 levels, 1 the most urgent, as in
// BACnet. A command takes a level; the command with the smallest level is what the point is set to.
// A level belongs to one requester at a time: a second one is refused, and the refusal names the holder.
//
// Who may write? A reservation gives a device, or everything below a path, to one requester for a
// window of time. Others are refused meanwhile, except at the levels of Limits.Emergency.
//
// Until when? A command can have a lease. Without renewal it ends by itself, and the point reverts.
// A command made under a reservation ends with that at the latest.
//
// # Use
//
// A model.Model is driven by one goroutine. Every request is a method that takes the present Instant and
// returns a Decision or Effects: values that say what was decided and why, and what is to be written.
// The caller writes, and hands each outcome back with Answer. It calls Advance at the time that Next
// names, or later. A model never repeats a write whose outcome is unknown: it asks for the point to be
// read first. One write is under way for each point at most; what is commanded meanwhile waits, and only
// the latest value is written.
//
// # Time
//
// Leases, overrides and pauses run on the steady clock of Instant, so a jump of the wall clock neither
// ends nor prolongs them. Windows of reservations stand in the wall clock, which people mean when they
// write a time; after a jump they are checked anew. While a node is down only the wall clock runs: after
// Import a lease has what is left by the wall clock, but never more than its whole length.
//
// # State
//
// Changes returns what changed since its last call as records, and Export returns all of them. Import
// takes them back: what was being written then is unknown, and is read first.
package control
