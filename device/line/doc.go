// Package line serves one physical line with its devices: the connection, the sessions on it, scheduled reads, requests of others, and
// failures of the line or a device. One goroutine does all that, in [Line.Run].
//
// # Trouble
//
// A line that is lost is dialled again with growing, jittered distance; a line that worked
// before is dialled once more at once, within the same slot, because many devices close idle
// connections. Meanwhile each slot of its devices gives a scan that is bad(unreachable).
//
// A device that times out on a living line is silent: its slots give bad(timeout) without a
// request, except that after 0, 1, 3, 7 … skipped slots, up to Limits.Probe, it is asked again.
// Such a probe waits until nothing else is due, and probes together take at most a fifth of the
// time of a line on which other devices answer. The first answer ends the silence. When all
// devices of a line are silent the line is dialled anew after every third probe, because a dead
// connection looks like that.
//
// Bad scans go to the live side in every slot. They are recorded when the quality turns and then
// once every Limits.RecordBad, so that the history shows the reason for a gap and the log is not
// filled with it.
//
// A panic in a driver is an Internal fault of the line, which is dialled again. A driver that
// does not return within twice its time-out is reported as hung; only its line stands still, and
// its devices turn bad(stale) after acquisition.Config.StaleAfter.
//
// # Requests
//
// Slots and requests alternate on a line. A call for many points is a chain for each line, of which
// one link waits at a time, behind all that waits by then: it delays scans and the requests of others
// by one of its points at most, however long it is.
//
// # Reports
//
// A session that reports by itself (driver.Subscriber) keeps what it receives, and notifies the mailbox
// of its line that there is news. The line's goroutine waits for its mailbox anyhow, so it waits
// for all its devices at once, and takes news before anything else. An event waits for the request
// under way on its line at most. Sessions of such devices are opened, and opened again, without
// waiting for a slot: a device may speak at any time.
//
// A device whose report was acknowledged does not say it again, and several devices of the
// configuration may share it. So the line of a driver that can (driver.Pauser) is paused while
// sessions change: nothing is received before all devices that report are subscribed, nor between the last
// report of one whose configuration changed and the first under the new one. What a session received is
// taken before it is closed, whatever the reason: a line that is lost, a change, the end of Run.
package line
