package line

import (
	"sync"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/clock"
	"voltbus/point"
)

// Emitter hands scans to an outlet: those of drivers, and the bad ones that lines make themselves. All lines of an owner share one.
type Emitter struct {
	acquisition.Outlet
	scans sync.Pool // of *point.Scan, for those without values
}

// NewEmitter returns an emitter to an outlet.
func NewEmitter(o acquisition.Outlet) *Emitter {
	return &Emitter{Outlet: o, scans: sync.Pool{New: func() any { return new(point.Scan) }}}
}

// emit hands a scan to both sides.
func (o *Emitter) emit(u *Device, scan *point.Scan, record bool) {
	o.Hear(scan)
	if u.cfg.Publish != 0 {
		o.Live(scan, u.cfg.Publish)
	}
	if record && u.cfg.Record && !o.Record(scan.Samples) {
		u.unkept = true
	}
}

// emitBad says that the device has no values at a slot. The unit's mutex is held.
func (o *Emitter) emitBad(u *Device, slot time.Time, q point.Quality, now clock.Instant, every time.Duration) {
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
