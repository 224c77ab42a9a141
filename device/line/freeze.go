package line

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

// freeze is the request that freezes the counters of a device.
type freeze struct {
	caller context.Context //nolint:containedctx // who waits for it; the line has one of its own
	unit   *Device
	clears bool
	shown  []point.Sample
}

func (z *freeze) do(lineCtx context.Context, l *Line) error {
	u := z.unit
	now, err := l.attempt(lineCtx, u, false, onBehalf(z.caller, z.ask)) //nolint:contextcheck // that of the caller ends it, too
	if err != nil || len(z.shown) == 0 {
		return err
	}
	paths := make([]point.Path, len(z.shown))
	u.mu.Lock()
	for i := range z.shown {
		s := &z.shown[i]
		place := u.Find(string(s.Point))
		paths[i] = u.paths[place]
		s.Time = u.dates.Now(place, s.Quality, s.Value, now.Wall)
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
	if trouble.IsLineLost(err) && fault.KindOf(err) == fault.Internal { // the driver says nothing more
		return fault.E("device.freeze", fault.Timeout, "", err)
	}
	z.shown = append(z.shown[:0], shown...)
	return err
}
