// Package control defines the types of control: commands, decisions, and the states of points. Package model decides what a point is set
// to when several people and programs command it: a pure state machine without goroutines, clocks and I/O.
//
// # Three questions
//
// Which value wins? Each writable point has a priority array of 16 levels, 1 the most urgent, as in
// BACnet. A command occupies a level; the command with the lowest level number determines the value.
// A level belongs to one requester at a time: another one is refused, and the refusal names the holder.
//
// Who may write? A reservation gives a device, or everything below a path, to one requester for a
// window of time. Others are refused meanwhile, except at the levels of Limits.Emergency.
//
// Until when? A command can have a lease. Unless renewed it ends by itself, and the point reverts.
// A command given under a reservation ends no later than the reservation.
//
// # Use
//
// One goroutine drives a model.Model. Every request is a method that takes the current Instant and
// returns a Decision or Effects: values that say what was decided and why, and what to write. The caller
// performs the writes, and passes each outcome back with Answer. It calls Advance at the time that Next
// names, or later. A model never repeats a write whose outcome is unknown: it requests a read of the
// point first. At most one write is in progress for each point; what is commanded meanwhile waits, and
// only the latest value is written.
//
// # Time
//
// Leases, overrides and pauses run on the steady clock of Instant, so a jump of the wall clock neither
// ends nor prolongs them. Windows of reservations are in wall time, which is what people mean when they
// write a time; after a jump they are checked again. While a node is down only the wall clock runs: after
// Import a lease has what remains by the wall clock, but never more than its full length.
//
// # State
//
// Changes returns what changed since its last call as records, and Export returns all of them. Import
// loads them: what was being written at that time is unknown, and is read first.
package control
