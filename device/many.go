package device

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Setting is a point and what it is to be set to.
type Setting struct {
	Point point.Path
	Value point.Value
}

// Outcome is what came of a Setting.
type Outcome struct {
	Value point.Value // what the device then reports; the zero Value with an error
	Err   error       // as of Write
}

// WriteMany sets points, all lines at once and the points of one line in order, and returns one
// outcome for each, in order. It takes as long as the slowest line. Between two points a line serves
// what else is due, so a call delays neither scans nor the requests of others by more than one
// write. It waits until ctx ends at most: what was not begun then is not done.
func (f *Fleet) WriteMany(ctx context.Context, settings []Setting) []Outcome {
	outcomes := make([]Outcome, len(settings))
	f.WriteEach(ctx, settings, func(i int, o Outcome) { outcomes[i] = o })
	return outcomes
}

// WriteEach is WriteMany for who wants each outcome as soon as it is there: notify is called once for
// each setting, with its place, by many goroutines at once and before WriteEach returns. It must not
// wait, since a line waits for it.
func (f *Fleet) WriteEach(ctx context.Context, settings []Setting, notify func(place int, o Outcome)) {
	calls := newBatch(ctx, f, len(settings))
	for k := range settings {
		s := &settings[k]
		u, i := f.roster.pointAt(s.Point)
		if u == nil {
			notify(k, Outcome{Err: fault.E("device.Write", fault.NotFound, string(s.Point), errNoDevice)})
			continue
		}
		w := &write{caller: ctx, unit: u, index: i, value: s.Value}
		calls.add(u, w.do, func(err error) {
			if err != nil {
				notify(k, Outcome{Err: fault.E("device.Write", trouble.KindOf(err), string(s.Point), err)})
				return
			}
			notify(k, Outcome{Value: w.reported})
		})
	}
	calls.run(ctx)
}

// errNoDevice is why a point cannot be asked for.
var errNoDevice = errors.New("no device has such a point")

// Reading is a point's sample, or why there is none.
type Reading struct {
	Sample point.Sample // with a bad quality and no value if only this point could not be read
	Err    error        // as of Read
}

// ReadMany reads points now, all lines at once and the points of one device together, and returns
// one reading for each, in order. Lines serve what else is due between two devices. It waits until
// ctx ends at most.
func (f *Fleet) ReadMany(ctx context.Context, paths []point.Path) []Reading {
	readings := make([]Reading, len(paths))
	calls := newBatch(ctx, f, 0)
	for u, wanted := range f.byDevice(paths, readings) {
		names, full := make([]string, len(wanted)), make([]point.Path, len(wanted))
		for i, w := range wanted {
			names[i], full[i] = u.names[w.index], paths[w.place]
		}
		var samples []point.Sample
		calls.add(u, reading(ctx, u, full, names, &samples), func(err error) {
			for i, w := range wanted {
				if err != nil {
					readings[w.place].Err = fault.E("device.Read", trouble.KindOf(err), string(full[i]), err)
					continue
				}
				readings[w.place].Sample = samples[i]
			}
		})
	}
	calls.run(ctx)
	return readings
}

// place is a point of a device, and where its reading goes.
type place struct{ index, place int }

// byDevice groups points, and answers those that no device has.
func (f *Fleet) byDevice(paths []point.Path, readings []Reading) map[*unit][]place {
	groups := make(map[*unit][]place)
	for k, path := range paths {
		u, i := f.roster.pointAt(path)
		if u == nil {
			readings[k].Err = fault.E("device.Read", fault.NotFound, string(path), errNoDevice)
			continue
		}
		groups[u] = append(groups[u], place{i, k})
	}
	return groups
}

// reading is what a line does to read points of a device.
func reading(ctx context.Context, u *unit, paths []point.Path, names []string, samples *[]point.Sample) func(context.Context, *line) error {
	return func(lineCtx context.Context, l *line) error {
		_, err := l.attempt(lineCtx, u, true, onBehalf(ctx, func(ctx context.Context, s driver.Session) error {
			read, err := readAll(ctx, u, s, names)
			if err == nil {
				l.publisher.stamp(u, paths, read, l.clock.Now())
				*samples = slices.Clone(read)
			}
			return err
		}))
		return err
	}
}

// batch is a call for many points: a chain of requests for each line.
type batch struct {
	fleet *Fleet
	calls []*request
	last  map[*line]*request
	first []*request // of the chains
	open  atomic.Int64
	done  chan struct{} // closed when every request is answered
	given func() bool   // up, by the caller
}

func newBatch(ctx context.Context, f *Fleet, size int) *batch {
	return &batch{fleet: f, given: func() bool { return ctx.Err() != nil }, calls: make([]*request, 0, size), last: make(map[*line]*request), done: make(chan struct{})}
}

// add puts a request behind those of its line, or answers it. The answer is given once, by the line or
// when the caller gives up.
func (b *batch) add(u *unit, do func(context.Context, *line) error, answer func(error)) {
	if err := b.fleet.askable(u); err != nil {
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
func (b *batch) answered() {
	if b.open.Add(-1) == 0 {
		close(b.done)
	}
}

// run queues the chains and waits for every answer.
func (b *batch) run(ctx context.Context) {
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
	<-b.done // answers that lines are giving at this moment
}
