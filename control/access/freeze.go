package access

import (
	"context"
	"fmt"
	"slices"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// Freeze makes a device copy its counters into frozen counters, and then set them to zero if requested. It requires
// the right to reserve the device; fault.Conflict: another requester has a reservation of it now.
func (a *Access) Freeze(ctx context.Context, who *Who, in *answer.Freeze) (answer.Readings, error) {
	const op = "access.Freeze"
	path := point.Path(in.Device)
	if err := path.Validate(); err != nil {
		return answer.Readings{}, fault.E(op, fault.Invalid, "device", err)
	}
	if err := a.refuse(who, "device.freeze", clip(in.Device), who.Reserve(path)); err != nil {
		return answer.Readings{}, err
	}
	tasks, err := a.cfg.Dispatcher.Tasks(ctx)
	if err != nil {
		return answer.Readings{}, err
	}
	for i := range tasks {
		t := &tasks[i]
		if t.Requester != who.Name && slices.ContainsFunc(t.Active, func(w control.Window) bool { return near(path, w.Path) }) {
			return answer.Readings{}, fault.E(op, fault.Conflict, in.Device, fmt.Errorf(
				"%s has reserved something of the device (%s); wait until that ends, or cancel it", t.Requester, t.ID))
		}
	}
	samples, err := a.cfg.Freeze(ctx, path, in.Clear)
	if err != nil {
		return answer.Readings{}, err
	}
	out := answer.Readings{Readings: make([]answer.Reading, len(samples))}
	for i := range samples {
		out.Readings[i] = reading(samples[i].Point, &device.Reading{Sample: samples[i]})
	}
	return out, nil
}
