package line

import (
	"time"

	"voltbus/device/clock"
	"voltbus/point"
)

// publisher emits the scans of a line.
type publisher struct {
	clock     *clock.Clock
	out       *Emitter
	recordBad time.Duration // interval between recorded scans of a device that stays bad

	scan    point.Scan      // lent to the outlet, one at a time
	written [1]point.Sample // likewise
}

// stamp gives samples their full paths, and the time of the answer if the driver gives none.
func (p *publisher) stamp(u *Device, paths []point.Path, samples []point.Sample, now clock.Instant) {
	for i := range samples {
		s := &samples[i]
		s.Point = paths[i]
		if s.Time.IsZero() {
			s.Time = now.Wall
		}
	}
	if backs := p.clock.Backs.Load(); backs != u.clock {
		u.clock = backs
		doubt(samples)
	}
}

// doubt marks samples as taken with a clock that has just gone back.
func doubt(samples []point.Sample) {
	for i := range samples {
		if samples[i].Quality.IsGood() {
			samples[i].Quality = point.UncertainClock
		}
	}
}

// deliver emits a scan with values.
func (p *publisher) deliver(u *Device, slot time.Time, samples []point.Sample, now clock.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.scanned(now)
	p.scan = point.Scan{Device: u.cfg.Path, Slot: slot, Time: now.Wall, Samples: samples}
	p.out.emit(u, &p.scan, true)
	p.scan.Samples = nil
}

// deliverBad emits a scan without values.
func (p *publisher) deliverBad(u *Device, slot time.Time, q point.Quality, now clock.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	p.emitBad(u, slot, q, now)
}

// skip serves a slot without accessing the device.
func (p *publisher) skip(u *Device, slot time.Time, q point.Quality, now clock.Instant) {
	u.mu.Lock()
	u.state.Skipped++
	u.mu.Unlock()
	p.deliverBad(u, slot, q, now)
}

// emitBad is deliverBad for callers that hold the device's mutex.
func (p *publisher) emitBad(u *Device, slot time.Time, q point.Quality, now clock.Instant) {
	p.out.emitBad(u, slot, q, now, p.recordBad)
}

// confirm emits the value that a point has after a write.
func (p *publisher) confirm(u *Device, i int, v point.Value, now clock.Instant) {
	u.mu.Lock()
	p.written[0] = point.Sample{Value: v, Time: u.dates.Now(i, point.Good, v, now.Wall)}
	u.mu.Unlock()
	p.stamp(u, u.paths[i:i+1], p.written[:], now)
	p.deliver(u, time.Time{}, p.written[:], now)
}
