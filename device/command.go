package device

import (
	"context"
	"errors"
	"fmt"

	"voltbus/device/line"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Reasons why a device cannot be accessed now.
var (
	errOver      = errors.New("the node is stopping; ask again when it runs")
	errNoArray   = errors.New("its device has no priority array; commanded objects of the driver bacnet have one")
	errElsewhere = errors.New("no replica has the right to use it at the moment; ask again in a few seconds")
	errDisabled  = errors.New("it is disabled in the configuration")
)

// Read reads points of a device now, without waiting for a slot; nil names means all its points. It returns
// one sample for each name, in order, with full paths; the caller owns them. It waits at most until ctx ends,
// even if Run has not begun.
//
// Errors: fault.NotFound for an unknown device or point; Unavailable when the fleet has stopped, the device
// is disabled or too many requests are pending; Unreachable while the line or the device is left alone after
// a failure to answer; otherwise the driver's. It is safe for concurrent use.
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

// Write sets a point and returns the value that the device then reports, which is also emitted as a sample.
// It is not repeated when the line is lost meanwhile: the outcome is then unknown. It waits at most until ctx
// ends.
//
// Errors are those of Read, and fault.Refused for a device whose driver cannot write or a read-only point.
// Timeout, Canceled, Corrupt and Internal leave open whether the device accepted the value; after every other
// kind it did not. It is safe for concurrent use.
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

// PriorityArray is what all systems command a point to in its device.
type PriorityArray = driver.PriorityArray

// Priorities returns the priority array of a point in its device. Errors are those of Read, and fault.Refused for a point
// without such an array.
func (f *Fleet) Priorities(ctx context.Context, path point.Path) (array PriorityArray, err error) {
	const op = "device.Priorities"
	u, i := f.roster.pointAt(path)
	if u == nil {
		return array, fault.E(op, fault.NotFound, string(path), errNoDevice)
	}
	if err = f.askable(u); err == nil {
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
		return PriorityArray{}, fault.E(op, trouble.KindOf(err), string(path), err)
	}
	return array, nil
}

// Do runs do on the goroutine that owns the device's line. It waits at most until ctx ends; do has the time-out of the device.
// Errors are those of Read, or the one that do returned.
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

// askable returns why a device cannot be accessed now.
func (f *Fleet) askable(u *line.Device) error {
	owner, is := u.Elsewhere()
	switch {
	case is:
		return fault.E("device.request", fault.Unavailable, "", elsewhere(owner))
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

// elsewhere says who has a device.
func elsewhere(owner string) error {
	if owner == "" {
		return errElsewhere
	}
	return fmt.Errorf("replica %s uses it; ask that one", owner)
}

// Closed reports whether a device that this replica has no right to use is not in use any more.
func (f *Fleet) Closed(device point.Path) bool { return f.roster.closed(device) }

// Freeze makes a device copy its counters into frozen counters, and then set them to zero if clears is true. The values
// of the points that this changes are emitted, and returned: the caller owns the samples. It is not repeated when the
// line is lost meanwhile: the outcome is then unknown. It waits at most until ctx ends. Errors are those of Write.
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
