// Package device owns the devices of a node: it validates their configuration, assigns each to a line, accepts requests for them, and
// detects lines that stand still. What a line does with its devices is in voltbus/device/line, how a device is to be read in
// voltbus/device/acquisition.
//
// # Lines
//
// Devices whose configuration gives the same line name share one physical line, and one
// goroutine. That goroutine alone dials the line, opens sessions, reads, writes and closes, so
// drivers need no locks, and at most one session with a device exists at any time.
//
// # Schedule
//
// A device is read at the multiples of its interval since 1970 UTC, shifted by its offset and by
// its place in its group (see acquisition.Config). A slot that passed while the line was busy is
// counted as an overrun and never made up for. Waiting uses the monotonic clock; when the wall
// clock jumps by more than line.Limits.Jump, every schedule is planned anew from the new time: one
// slot may be left out or met twice, but neither a storm of reads nor a silence as long as the
// jump follows. After a jump back the first scan of each device is uncertain(clock), which marks
// the place in the history where time runs a second time; later scans are trusted again. A jump
// forward is also what a suspended machine sees, and needs no mark.
package device
