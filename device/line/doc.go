// Package line serves one physical line with its devices: the connection, the sessions on it, scheduled reads, requests from others, and
// failures of the line or a device. One goroutine does all that, in [Line.Run].
//
// # Failures
//
// A lost line is dialled again with growing, jittered delays; a line that had worked is first
// dialled once more at once, within the same slot, because many devices close idle connections.
// Meanwhile each slot of its devices gives a scan that is bad(unreachable).
//
// A device that times out on a working line is silent: its slots give bad(timeout) without a
// request, except that it is probed after 0, 1, 3, 7 … skipped slots, up to Limits.Probe. A probe
// waits until nothing else is due, and all probes together take at most a fifth of the time of a
// line on which other devices answer. The first answer ends the silence. When all devices of a line
// are silent the line is redialled after every third probe, because a dead connection looks the
// same.
//
// Bad scans go to the live side in every slot. They are recorded when the quality changes and then
// once every Limits.RecordBad, so that the history shows the reason for a gap without filling the
// log.
//
// A panic in a driver is an Internal fault of the line, which is dialled again. A driver that
// does not return within twice its time-out is reported as hung; only its line is stuck, and
// its devices turn bad(stale) after acquisition.Config.StaleAfter.
//
// # Requests
//
// Slots and requests alternate on a line. A call for many points is one chain per line, of which
// one link is queued at a time, after all requests pending by then: however long it is, it delays
// scans and other requests by at most one of its points.
//
// # Reports
//
// A session that reports on its own (driver.Subscriber) keeps what it receives, and notifies the
// mailbox of its line that there is news. The line's goroutine waits on its mailbox anyway, so it
// waits for all its devices at once, and takes news before anything else. An event waits at most for
// the request in progress on its line. Sessions of such devices are opened, and reopened, without
// waiting for a slot: a device may report at any time.
//
// A device does not repeat an acknowledged report, and several configured devices may share the
// same physical one. So the line of a driver that supports it (driver.Pauser) is paused while
// sessions change: nothing is received before all reporting devices are subscribed, nor between the
// last report under an old configuration and the first under the new one. What a session received
// is taken before it is closed, whatever the reason: a lost line, a change, the end of Run.
package line
