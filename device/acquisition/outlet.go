package acquisition

import (
	"voltbus/point"
)

// Outlet takes what devices say. Its methods are called by many goroutines at once (one for
// each line), and never block: an outlet that cannot follow drops, and counts what it drops.
//
// The scan and the samples are lent: the outlet is done with them when the call returns, because
// their owner uses the memory again. What it wants to keep it copies. It must not change them:
// Record gets the same samples that Live got. It must not call the owner of the devices.
type Outlet interface {
	// Hear hands over every scan once, first, whether or not its device publishes and records. Of a device
	// that has no values it may leave out those scans that say the same as the last one.
	Hear(scan *point.Scan)
	// Live hands over one scan for those who look now, in the forms that its device publishes.
	Live(scan *point.Scan, forms Forms)
	// Record hands over samples for the history, in the order in which they were taken. It returns false if not all
	// of them will be kept.
	Record(samples []point.Sample) bool
	// Settle calls kept, from any goroutine, when everything that its caller handed to Record before is on disk; never if
	// that comes to nothing.
	Settle(kept func())
}
