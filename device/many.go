package device

import (
	"context"
	"errors"

	"voltbus/device/line"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Levels are levels in the priority array of a device.
type Levels = driver.Levels

// Setting is a point and its new value.
type Setting struct {
	Point point.Path
	Value point.Value // none: the node's command is relinquished, which only a device with a priority array supports
	Level int         // of the value in the device's array; 0: none
	Back  Levels      // of that array, to relinquish
}

// Outcome is the outcome of a Setting.
type Outcome struct {
	Value point.Value // what the device then reports; the zero Value after an error
	Err   error       // as for Write
}

// WriteMany sets points, on all lines concurrently and the points of one line in order, and returns one
// outcome for each, in order. It takes as long as the slowest line. Between two points a line serves what
// else is due, so a call delays scans and other requests by at most one write. It waits at most until ctx
// ends: what has not begun by then is not done.
func (f *Fleet) WriteMany(ctx context.Context, settings []Setting) []Outcome {
	outcomes := make([]Outcome, len(settings))
	f.WriteEach(ctx, settings, func(i int, o Outcome) { outcomes[i] = o })
	return outcomes
}

// WriteEach is WriteMany for callers that want each outcome at once: notify is called once for each setting,
// with its index, concurrently and before WriteEach returns. It must not block, since a line waits for it.
func (f *Fleet) WriteEach(ctx context.Context, settings []Setting, notify func(place int, o Outcome)) {
	calls := line.NewBatch(ctx, f.askable, len(settings))
	for k := range settings {
		s := &settings[k]
		u, i := f.roster.pointAt(s.Point)
		if u == nil {
			notify(k, Outcome{Err: fault.E("device.Write", fault.NotFound, string(s.Point), errNoDevice)})
			continue
		}
		calls.Write(ctx, u, i, driver.Command{Value: s.Value, Level: s.Level, Back: s.Back}, func(reported point.Value, err error) {
			if err != nil {
				notify(k, Outcome{Err: fault.E("device.Write", trouble.KindOf(err), string(s.Point), err)})
				return
			}
			notify(k, Outcome{Value: reported})
		})
	}
	calls.Run(ctx)
}

// errNoDevice is the error about a point without a device.
var errNoDevice = errors.New("no device has such a point")

// Reading is a point's sample, or the reason why there is none.
type Reading struct {
	Sample point.Sample // with a bad quality and no value if only this point could not be read
	Err    error        // as for Read
}

// ReadMany reads points now, on all lines concurrently and the points of one device together, and returns one
// reading for each, in order. Lines serve what else is due between two devices. It waits at most until ctx
// ends.
func (f *Fleet) ReadMany(ctx context.Context, paths []point.Path) []Reading {
	readings := make([]Reading, len(paths))
	calls := line.NewBatch(ctx, f.askable, 0)
	for u, wanted := range f.byDevice(paths, readings) {
		names, full := make([]string, len(wanted)), make([]point.Path, len(wanted))
		for i, w := range wanted {
			names[i], full[i] = u.Names()[w.index], paths[w.place]
		}
		calls.Read(ctx, u, full, names, func(samples []point.Sample, err error) {
			for i, w := range wanted {
				if err != nil {
					readings[w.place].Err = fault.E("device.Read", trouble.KindOf(err), string(full[i]), err)
					continue
				}
				readings[w.place].Sample = samples[i]
			}
		})
	}
	calls.Run(ctx)
	return readings
}

// place is a point of a device, and the index of its reading.
type place struct{ index, place int }

// byDevice groups points, and answers those that no device has.
func (f *Fleet) byDevice(paths []point.Path, readings []Reading) map[*line.Device][]place {
	groups := make(map[*line.Device][]place)
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
