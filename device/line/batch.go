package line

import (
	"context"
	"sync/atomic"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Batch is a call for many points: a chain of requests for each line. Requests are added by one goroutine, and answered by many.
type Batch struct {
	askable func(*Device) error // why a device cannot be accessed now
	calls   []*request
	last    map[*Line]*request
	first   []*request // first requests of the chains
	open    atomic.Int64
	done    chan struct{} // closed when every request is answered
	given   func() bool   // reports whether the caller has given up
}

// NewBatch returns a call without requests, of which about size are expected. askable returns why a device cannot be accessed
// now; its error is then the answer.
func NewBatch(ctx context.Context, askable func(*Device) error, size int) *Batch {
	return &Batch{askable: askable, given: func() bool { return ctx.Err() != nil }, calls: make([]*request, 0, size), last: make(map[*Line]*request), done: make(chan struct{})}
}

// Read adds a request for points of a device: names are the points' names in the driver, paths their full paths. answer gets the
// samples, in the order of names.
func (b *Batch) Read(ctx context.Context, u *Device, paths []point.Path, names []string, answer func([]point.Sample, error)) {
	var samples []point.Sample
	b.add(u, reading(ctx, u, paths, names, &samples), func(err error) {
		if err != nil { // the line may still be reading
			answer(nil, err)
			return
		}
		answer(samples, nil)
	})
}

// Write adds a request to command the point of a device, given by its index. answer gets the value that the device then reports.
func (b *Batch) Write(ctx context.Context, u *Device, place int, c driver.Command, answer func(point.Value, error)) {
	w := &write{caller: ctx, unit: u, index: place, command: c}
	b.add(u, w.do, func(err error) {
		if err != nil { // the line may still be writing
			answer(point.Value{}, err)
			return
		}
		answer(w.reported, nil)
	})
}

// add appends a request to those of its line, or answers it. The answer is given once, by the line or when
// the caller gives up.
func (b *Batch) add(u *Device, do func(context.Context, *Line) error, answer func(error)) {
	if err := b.askable(u); err != nil {
		answer(err)
		return
	}
	r := &request{unit: u, do: do, dropped: b.given}
	r.answer = func(err error) {
		answer(err)
		b.answered()
	}
	b.calls = append(b.calls, r)
	if before := b.last[u.line]; before != nil {
		before.next = r
	} else {
		b.first = append(b.first, r)
	}
	b.last[u.line] = r
}

// answered counts an answer.
func (b *Batch) answered() {
	if b.open.Add(-1) == 0 {
		close(b.done)
	}
}

// Run queues the chains and waits for every answer.
func (b *Batch) Run(ctx context.Context) {
	if len(b.calls) == 0 {
		return
	}
	b.open.Store(int64(len(b.calls)))
	for _, first := range b.first {
		if err := first.unit.line.box.putOrRefuse(first); err != nil {
			for r := first; r != nil; r = r.next {
				r.reply(fault.E("device.request", fault.Unavailable, "", err))
			}
		}
	}
	select {
	case <-b.done:
		return
	case <-ctx.Done():
	}
	for _, r := range b.calls {
		r.reply(r.late(ctx))
	}
	<-b.done // answers being given by lines at this moment
}
