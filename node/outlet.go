package node

import (
	"sync"
	"time"

	"voltbus/bus"
	"voltbus/device"
	"voltbus/point"
	"voltbus/recorder"
)

// now is the clock of all parts that the node opens.
func now() time.Time { return time.Now() }

// outlet passes what devices report to the bus, the recorder and control.
type outlet struct {
	publishers sync.Pool // of *bus.Publisher: many lines publish concurrently
	recorder   *recorder.Recorder
	hear       func(*point.Scan) // set before the first scan
}

func newOutlet(b *bus.Bus, r *recorder.Recorder) *outlet {
	return &outlet{recorder: r, hear: func(*point.Scan) {}, publishers: sync.Pool{New: func() any { return b.NewPublisher() }}}
}

// Hear implements device.Outlet: control compares the devices' values with the commanded ones.
func (o *outlet) Hear(scan *point.Scan) { o.hear(scan) }

// Live implements device.Outlet. A live message that the bus cannot accept is dropped by design.
func (o *outlet) Live(scan *point.Scan, forms device.Forms) {
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
func (o *outlet) Record(samples []point.Sample) bool { return o.recorder.Offer(samples) }

// Settle implements device.Outlet.
func (o *outlet) Settle(kept func()) { o.recorder.WhenOnDisk(kept) }
