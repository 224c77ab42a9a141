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

// The reasons why a device cannot be asked now.
var (
	errOver     = errors.New("the node is stopping; ask again when it runs")
	errNoArray  = errors.New("its device has no priority array; commanded objects of the driver bacnet have one")
	errDisabled = errors.New("it is disabled in the configuration")
)

// Read reads points of a device now, without waiting for a slot; nil names are all its points. It
// returns one sample for each name, in order, with full paths; they belong to the caller. It
// waits until ctx ends at most, also for Run where that has not begun.
//
// Errors: fault.NotFound for an unknown device or point; Unavailable when the fleet has stopped,
// the device is disabled or too many requests wait; Unreachable while the line or the device is
// left alone after it did not answer; else the driver's. It is safe for concurrent use.
func (f *Fleet) Read(ctx context.Context, device point.Path, names []string) ([]point.Sample, error) {
	u := f.roster.unitAt(device)
	if u == nil {
		return nil, fault.E("device.Read", fault.NotFound, string(device), errors.New("there is no such device"))
	}
	if names == nil {
		names = u.Names()
	}
	paths := make([]point.Path, len(names))
	for i, name := range names {
		paths[i] = device.Join(name)
		if u.Find(name) < 0 {
			return nil, fault.E("device.Read", fault.NotFound, string(paths[i]), errors.New("the device has no such point"))
		}
	}
	samples, err := []point.Sample(nil), f.askable(u)
	if err == nil {
		samples, err = line.Read(ctx, u, paths, names)
	}
	if err != nil {
		return nil, fault.E("device.Read", trouble.KindOf(err), string(device), err)
	}
	return samples, nil
}

// Write sets a point and returns the value that the device reports then, which is also emitted as
// a sample. It is not repeated when the line is lost meanwhile: the outcome is unknown then. It
// waits until ctx ends at most.
//
// Errors are those of Read, and fault.Refused for a device whose driver cannot write or a point
// that is read-only. Timeout, Canceled, Corrupt and Internal leave it open whether the device took the
// value; after every other kind it did not. It is safe for concurrent use.
func (f *Fleet) Write(ctx context.Context, path point.Path, v point.Value) (point.Value, error) {
	u, i := f.roster.pointAt(path)
	if u == nil {
		return point.Value{}, fault.E("device.Write", fault.NotFound, string(path), errNoDevice)
	}
	reported, err := point.Value{}, f.askable(u)
	if err == nil {
		reported, err = line.Write(ctx, u, i, v)
	}
	if err != nil {
		return point.Value{}, fault.E("device.Write", trouble.KindOf(err), string(path), err)
	}
	return reported, nil
}

// Priorities returns what everybody commands of a point in the priority array of its device, from level 1 on, without a
// value where nobody does. Errors are those of Read, and fault.Refused for a point without such an array.
func (f *Fleet) Priorities(ctx context.Context, path point.Path) ([]point.Value, error) {
	const op = "device.Priorities"
	u, i := f.roster.pointAt(path)
	if u == nil {
		return nil, fault.E(op, fault.NotFound, string(path), errNoDevice)
	}
	array, err := []point.Value(nil), f.askable(u)
	if err == nil {
		err = line.Call(ctx, u, func(ctx context.Context, s driver.Session) error {
			p, can := s.(driver.Prioritizer)
			if !can {
				return fault.E(op, fault.Refused, "", errNoArray)
			}
			read, err := p.Priorities(ctx, u.Names()[i])
			array = read
			return err
		})
	}
	if err != nil {
		return nil, fault.E(op, trouble.KindOf(err), string(path), err)
	}
	return array, nil
}

// Do has do talk to a device, as the goroutine that owns its line would. It waits until ctx ends at most; do has the time-out of the
// device. Errors are those of Read, or what do returned.
func (f *Fleet) Do(ctx context.Context, device point.Path, do func(context.Context, driver.Session) error) error {
	const op = "device.Do"
	u := f.roster.unitAt(device)
	if u == nil {
		return fault.E(op, fault.NotFound, string(device), errNoDevice)
	}
	err := f.askable(u)
	if err == nil {
		err = line.Call(ctx, u, do)
	}
	if err != nil {
		return fault.E(op, trouble.KindOf(err), string(device), err)
	}
	return nil
}

// askable reports why a device cannot be asked now.
func (f *Fleet) askable(u *line.Device) error {
	switch {
	case u.Line() == nil:
		return fault.E("device.request", fault.Unavailable, "", errDisabled)
	case f.roster.over():
		return fault.E("device.request", fault.Unavailable, "", errOver)
	}
	if overdue, hung := u.Line().Hung(f.clock.Now()); hung {
		return fault.E("device.request", fault.Unavailable, "", errors.New(u.Line().HungText(overdue)))
	}
	return nil
}

// Freeze has a device copy its counters into frozen counters, and set them to zero then if clears is true. What the
// points say then that this changes is emitted, and returned: the samples belong to the caller. It is not repeated when
// the line is lost meanwhile: the outcome is unknown then. It waits until ctx ends at most. Errors are those of Write.
func (f *Fleet) Freeze(ctx context.Context, device point.Path, clears bool) ([]point.Sample, error) {
	const op = "device.Freeze"
	u := f.roster.unitAt(device)
	if u == nil {
		return nil, fault.E(op, fault.NotFound, string(device), errNoDevice)
	}
	shown, err := []point.Sample(nil), f.askable(u)
	if err == nil {
		shown, err = line.Freeze(ctx, u, clears)
	}
	if err != nil {
		return nil, fault.E(op, trouble.KindOf(err), string(device), err)
	}
	return shown, nil
}
