// Package device owns the devices of a node: it validates their configuration, assigns each to a line, accepts requests for them, and
// detects lines that are stuck. How a line serves its devices is in voltbus/device/line, how a device is read in
// voltbus/device/acquisition.
//
// # Lines
//
// Devices whose configuration gives the same line name share one physical line, and one
// goroutine. Only that goroutine dials the line, opens sessions, reads, writes and closes, so
// drivers need no locks, and at most one session with a device exists at any time.
//
// # Schedule
//
// A device is read at the multiples of its interval since 1970 UTC, shifted by its offset and by
// its place in its group (see acquisition.Config). A slot that passed while the line was busy is
// counted as an overrun and never made up for. Waiting uses the monotonic clock; when the wall
// clock jumps by more than line.Limits.Jump, every schedule is planned again from the new time: one
// slot may be left out or served twice, but there is neither a burst of reads nor a silence as long
// as the jump. After a jump back the first scan of each device is uncertain(clock), which marks the
// place in the history where time runs a second time; later scans are trusted again. A suspended
// machine also sees a jump forward, which needs no mark.
package device
