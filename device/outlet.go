package device

import (
	"sync"
	"time"

	"voltbus/device/clock"
	"voltbus/point"
)

// Outlet takes what devices say. Its methods are called by many goroutines at once (one for
// each line), and never block: an outlet that cannot follow drops, and counts what it drops.
//
// The scan and the samples are lent: the outlet is done with them when the call returns, because
// their owner uses the memory again. What it wants to keep it copies. It must not change them:
// Record gets the same samples that Live got. It must not call the Fleet.
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

// outlets is what every line needs to emit.
type outlets struct {
	Outlet
	scans sync.Pool // of *point.Scan, for those that the owner makes up itself
}

func newOutlets(o Outlet) *outlets {
	return &outlets{Outlet: o, scans: sync.Pool{New: func() any { return new(point.Scan) }}}
}

// emit hands a scan to both sides.
func (o *outlets) emit(u *unit, scan *point.Scan, record bool) {
	o.Hear(scan)
	if u.cfg.Publish != 0 {
		o.Live(scan, u.cfg.Publish)
	}
	if record && u.cfg.Record && !o.Record(scan.Samples) {
		u.unkept = true
	}
}

// emitBad says that the device has no values at a slot. The unit's mutex is held.
func (o *outlets) emitBad(u *unit, slot time.Time, q point.Quality, now clock.Instant, every time.Duration) {
	record := u.turnedBad(q, now.Steady, every)
	if u.cfg.Publish == 0 && !record {
		return
	}
	scan := o.scans.Get().(*point.Scan)
	samples := scan.Samples[:0]
	for i, path := range u.paths {
		samples = append(samples, point.Sample{Point: path, Time: u.dateNow(i, q, point.Value{}, now), Quality: q})
	}
	*scan = point.Scan{Device: u.cfg.Path, Slot: slot, Time: now.Wall, Samples: samples}
	o.emit(u, scan, record)
	o.scans.Put(scan)
}
