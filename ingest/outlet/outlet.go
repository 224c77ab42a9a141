// Package outlet passes what devices report to the bus, the recorder and control, so that none of them knows another.
package outlet

import (
	"sync"

	"voltbus/bus"
	"voltbus/device"
	"voltbus/point"
	"voltbus/recorder"
)

// Outlet is where devices report. It is safe for concurrent use.
type Outlet struct {
	publishers sync.Pool // of *bus.Publisher: many lines publish concurrently
	recorder   *recorder.Recorder
	hear       func(*point.Scan) // set before the first scan
}

// New returns an outlet to a bus and a recorder.
func New(b *bus.Bus, r *recorder.Recorder) *Outlet {
	return &Outlet{recorder: r, hear: func(*point.Scan) {}, publishers: sync.Pool{New: func() any { return b.NewPublisher() }}}
}

// Hear implements device.Outlet: control compares the devices' values with the commanded ones.
func (o *Outlet) Hear(scan *point.Scan) { o.hear(scan) }

// Live implements device.Outlet. A live message that the bus cannot accept is dropped by design.
func (o *Outlet) Live(scan *point.Scan, forms device.Forms) {
	p, ok := o.publishers.Get().(*bus.Publisher)
	if !ok {
		return
	}
	_ = p.Publish(scan, bus.Forms{
		Scan: forms.Has(device.FormScan), Point: forms.Has(device.FormPoint),
		BreadthScan: forms.Has(device.FormBreadthScan), BreadthPoint: forms.Has(device.FormBreadthPoint),
	})
	o.publishers.Put(p)
}

// Record implements device.Outlet. The recorder counts what it has to refuse.
func (o *Outlet) Record(samples []point.Sample) bool { return o.recorder.Offer(samples) }

// Settle implements device.Outlet.
func (o *Outlet) Settle(kept func()) { o.recorder.WhenOnDisk(kept) }

// HearBy sets what is told of each scan. It is called before the first one.
func (o *Outlet) HearBy(hear func(*point.Scan)) { o.hear = hear }

// TellAs passes the samples of a message to subscribers and control.
func (o *Outlet) TellAs(f device.Forms) func(*point.Scan) {
	return func(scan *point.Scan) {
		o.hear(scan)
		o.Live(scan, f)
	}
}
