package device

import (
	"context"
	"errors"
	"slices"

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
	calls := newBatch(f)
	for k := range settings {
		s, o := &settings[k], &outcomes[k]
		u, i := f.pointAt(s.Point)
		if u == nil {
			o.Err = fault.E("device.Write", fault.NotFound, string(s.Point), errNoDevice)
			continue
		}
		var value point.Value
		calls.add(newRequest(ctx, u, writing(ctx, u, i, s.Value, &value)), func(err error) {
			if err != nil {
				o.Err = fault.E("device.Write", kindOf(err), string(s.Point), err)
				return
			}
			o.Value = value
		})
	}
	calls.run(ctx)
	return outcomes
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
	calls := newBatch(f)
	for u, wanted := range f.byDevice(paths, readings) {
		names, full := make([]string, len(wanted)), make([]point.Path, len(wanted))
		for i, w := range wanted {
			names[i], full[i] = u.names[w.index], paths[w.place]
		}
		var samples []point.Sample
		calls.add(newRequest(ctx, u, reading(ctx, u, full, names, &samples)), func(err error) {
			for i, w := range wanted {
				if err != nil {
					readings[w.place].Err = fault.E("device.Read", kindOf(err), string(full[i]), err)
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
		u, i := f.pointAt(path)
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
				l.stamp(u, paths, read, l.clock.now())
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
	calls []call
	last  map[*line]*request
	first []*request // of the chains
}

type call struct {
	request *request
	answer  func(error)
}

func newBatch(f *Fleet) *batch { return &batch{fleet: f, last: make(map[*line]*request)} }

// add puts a request behind those of its line, or answers it.
func (b *batch) add(r *request, answer func(error)) {
	if err := b.fleet.askable(r.unit); err != nil {
		answer(err)
		return
	}
	b.calls = append(b.calls, call{r, answer})
	if before := b.last[r.unit.line]; before != nil {
		before.next = r
	} else {
		b.first = append(b.first, r)
	}
	b.last[r.unit.line] = r
}

// run queues the chains and waits for every answer.
func (b *batch) run(ctx context.Context) {
	for _, first := range b.first {
		if err := first.unit.line.box.putOrRefuse(first); err != nil {
			for r := first; r != nil; r = r.next {
				r.done <- fault.E("device.request", fault.Unavailable, "", err)
			}
		}
	}
	for _, c := range b.calls {
		c.answer(c.request.wait(ctx))
	}
}
