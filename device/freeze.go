package device

import (
	"context"
	"errors"
	"time"

	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

var errNoFreezer = errors.New("its driver cannot freeze counters; devices of the driver dnp3 can")

// Freeze has a device copy its counters into frozen counters, and set them to zero then if clears is true. What the
// points say then that this changes is emitted, and returned: the samples belong to the caller. It is not repeated when
// the line is lost meanwhile: the outcome is unknown then. It waits until ctx ends at most. Errors are those of Write.
func (f *Fleet) Freeze(ctx context.Context, device point.Path, clears bool) ([]point.Sample, error) {
	const op = "device.Freeze"
	u := f.roster.unitAt(device)
	if u == nil {
		return nil, fault.E(op, fault.NotFound, string(device), errNoDevice)
	}
	z := &freeze{caller: ctx, unit: u, clears: clears}
	if err := f.request(ctx, u, z.do); err != nil {
		return nil, fault.E(op, trouble.KindOf(err), string(device), err)
	}
	return z.shown, nil
}

// freeze is what a line does to freeze the counters of a device.
type freeze struct {
	caller context.Context //nolint:containedctx // who waits for it; the line has one of its own
	unit   *unit
	clears bool
	shown  []point.Sample
}

func (z *freeze) do(lineCtx context.Context, l *line) error {
	u := z.unit
	now, err := l.attempt(lineCtx, u, false, onBehalf(z.caller, z.ask)) //nolint:contextcheck // that of the caller ends it, too
	if err != nil || len(z.shown) == 0 {
		return err
	}
	paths := make([]point.Path, len(z.shown))
	u.mu.Lock()
	for i := range z.shown {
		s := &z.shown[i]
		place := u.find(string(s.Point))
		paths[i] = u.paths[place]
		s.Time = u.dateNow(place, s.Quality, s.Value, now)
	}
	u.mu.Unlock()
	l.publisher.stamp(u, paths, z.shown, now)
	l.publisher.deliver(u, time.Time{}, z.shown, now)
	return nil
}

func (z *freeze) ask(ctx context.Context, s driver.Session) error {
	freezer, can := s.(driver.Freezer)
	if !can {
		return fault.E("device.freeze", fault.Refused, "", errNoFreezer)
	}
	shown, err := freezer.Freeze(ctx, z.clears)
	if trouble.IsLineLost(err) && fault.KindOf(err) == fault.Internal { // the driver does not say more
		return fault.E("device.freeze", fault.Timeout, "", err)
	}
	z.shown = append(z.shown[:0], shown...)
	return err
}
