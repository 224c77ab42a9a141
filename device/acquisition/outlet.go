package acquisition

import (
	"voltbus/point"
)

// Outlet receives what devices report. Its methods are called concurrently (by one goroutine per line), and
// never block: an outlet that cannot keep up drops, and counts what it drops.
//
// The scan and the samples are lent: the outlet must not use them after the call returns, because their owner
// reuses the memory. It copies what it keeps, and must not modify them: Record gets the same samples that
// Live got. It must not call the owner of the devices.
type Outlet interface {
	// Hear receives every scan once, first, whether or not its device publishes and records. For a device
	// without values, scans equal to the previous one may be omitted.
	Hear(scan *point.Scan)
	// Live receives a scan for live messages, in the forms that its device publishes.
	Live(scan *point.Scan, forms Forms)
	// Record receives samples for the history, in the order in which they were taken. It returns false if not all
	// of them will be kept.
	Record(samples []point.Sample) bool
	// Settle calls kept, from any goroutine, when everything that its caller passed to Record before is on disk; never if
	// that fails.
	Settle(kept func())
}
