// Package dispatch carries out commands: it has the control model decide each request, stores the decision, writes the audit log, has
// devices written, and notifies those who wait.
//
// # One goroutine
//
// Run owns the model. Requests queue up for it, and all that wait are decided together: a turn. What
// changed is kept on disk and what was decided is in the audit log before the first write of a turn is
// sent and before anybody is answered. So a command that was answered survives a power cut, and one that
// a device saw is in the audit log.
//
// # Writes
//
// Writes leave in one call for each device and turn, so that no device waits for another one. Their
// outcomes come back to the goroutine. A node that is killed meanwhile reads those points when it runs
// again, and says in the audit log what is not known.
//
// # A disk that fails
//
// While nothing can be kept, new commands, reservations and overrides are refused and writes of commands
// are held back. What ends goes on ending: a point goes back to its default even if nobody can note it.
package dispatch
