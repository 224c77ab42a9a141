// Package dispatch carries out commands: it lets the control model decide each request, stores the decision, writes the audit log, has
// devices written, and notifies waiting callers.
//
// # One goroutine
//
// Run owns the model. Requests queue up for it, and all that are waiting are decided together: a turn.
// The changes are on disk and the decisions in the audit log before the first write of a turn is sent
// and before any caller is answered. So an answered command survives a power failure, and one that
// reached a device is in the audit log.
//
// # Writes
//
// Writes are sent in one call per device and turn, so that no device waits for another one. Their
// outcomes return to the goroutine. A node that is killed meanwhile reads those points when it runs
// again, and records in the audit log what is unknown.
//
// # A failing disk
//
// While nothing can be stored, new commands, reservations and overrides are refused and writes of
// commands are held back. Ends still take effect: a point returns to its default even if that cannot be
// recorded.
package dispatch
