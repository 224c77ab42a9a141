package device

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/deadline"
	"voltbus/internal/plural"
	"voltbus/point"
)

// The reasons why a device cannot be asked now.
var (
	errOver     = errors.New("the node is stopping; ask again when it runs")
	errReplaced = errors.New("its configuration has just changed; try again")
	errDisabled = errors.New("it is disabled in the configuration")
	errNoWriter = errors.New("its driver cannot write")
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
		names = u.names
	}
	paths := make([]point.Path, len(names))
	for i, name := range names {
		paths[i] = u.cfg.Path.Join(name)
		if u.find(name) < 0 {
			return nil, fault.E("device.Read", fault.NotFound, string(paths[i]), errors.New("the device has no such point"))
		}
	}
	var samples []point.Sample
	err := f.request(ctx, u, reading(ctx, u, paths, names, &samples))
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
	w := &write{caller: ctx, unit: u, index: i, value: v}
	if err := f.request(ctx, u, w.do); err != nil {
		return point.Value{}, fault.E("device.Write", trouble.KindOf(err), string(path), err)
	}
	return w.reported, nil
}

// write is what a line does to set a point.
type write struct {
	caller   context.Context //nolint:containedctx // who waits for it; the line has one of its own
	unit     *unit
	index    int
	value    point.Value
	reported point.Value // what the device then reports
}

func (w *write) do(lineCtx context.Context, l *line) error {
	now, err := l.attempt(lineCtx, w.unit, false, onBehalf(w.caller, w.ask)) //nolint:contextcheck // that of the caller ends it, too
	if err == nil && w.reported.Kind() != point.None {
		l.publisher.confirm(w.unit, w.index, w.reported, now)
	}
	return err
}

func (w *write) ask(ctx context.Context, s driver.Session) (err error) {
	writer, can := s.(driver.Writer)
	if !can {
		return fault.E("device.write", fault.Refused, "", errNoWriter)
	}
	w.reported, err = writer.Write(ctx, w.unit.names[w.index], w.value)
	if trouble.IsLineLost(err) && fault.KindOf(err) == fault.Internal { // the driver does not say more
		err = fault.E("device.write", fault.Timeout, "", fmt.Errorf("the line was lost meanwhile, the outcome is unknown: %w", err))
	}
	return err
}

// onBehalf lets ask end also when the caller gives up, and marks its error then, or if what was asked was declined.
func onBehalf(caller context.Context, ask asking) asking {
	return func(ctx context.Context, s driver.Session) error {
		both := deadline.Join(ctx, caller)
		defer both.End()
		err := ask(both, s) //nolint:contextcheck // both is ctx, which ends with the caller too
		if err != nil && caller.Err() != nil {
			return trouble.Abandon(fault.E("device.request", trouble.KindOf(caller.Err()), "", err))
		}
		if trouble.IsRefusal(err) {
			return trouble.Decline(err)
		}
		return err
	}
}

// request has do run on the device's line, and waits for it.
func (f *Fleet) request(ctx context.Context, u *unit, do func(context.Context, *line) error) error {
	if err := f.askable(u); err != nil {
		return err
	}
	r := newRequest(ctx, u, do)
	if err := u.line.box.putOrRefuse(r); err != nil {
		return fault.E("device.request", fault.Unavailable, "", err)
	}
	return r.wait(ctx)
}

// askable reports why a device cannot be asked now.
func (f *Fleet) askable(u *unit) error {
	switch {
	case u.line == nil:
		return fault.E("device.request", fault.Unavailable, "", errDisabled)
	case f.roster.over():
		return fault.E("device.request", fault.Unavailable, "", errOver)
	}
	if overdue, hung := u.line.calls.hung(f.clock.Now()); hung {
		return fault.E("device.request", fault.Unavailable, "", errors.New(u.line.calls.hungText(overdue)))
	}
	return nil
}

func newRequest(ctx context.Context, u *unit, do func(context.Context, *line) error) *request {
	done := make(chan error, 1)
	return &request{unit: u, do: do, done: done, answer: func(err error) { done <- err }, dropped: func() bool { return ctx.Err() != nil }}
}

// wait returns the answer to a queued request.
func (r *request) wait(ctx context.Context) error {
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-r.done: // it was in time
		return err
	default:
		return r.late(ctx)
	}
}

// late is the answer when the caller did not wait any longer.
func (r *request) late(ctx context.Context) error {
	return fault.E("device.request", trouble.KindOf(ctx.Err()), "", fmt.Errorf("wait for line %s: %w", r.unit.line.key.name, ctx.Err()))
}

// serve answers a request.
func (l *line) serve(ctx context.Context, r *request, now clock.Instant) {
	u := r.unit
	var err error
	switch {
	case r.dropped():
		err = context.Canceled // nobody listens
	case u.isRetired():
		err = fault.E("device.request", fault.Unavailable, "", errReplaced)
	case l.conn.resting(now):
		err = fault.E("device.request", fault.Unreachable, "", fmt.Errorf(
			"its line is lost (%w); it is tried again at %s", l.conn.down, now.Text(l.conn.restUntil)))
	case u.silence.timeouts > 0 && now.Steady < l.silences.gate:
		err = fault.E("device.request", fault.Unreachable, "", fmt.Errorf(
			"it did not answer %s; it may be asked again at %s",
			plural.Word(u.silence.timeouts, "once", strconv.Itoa(u.silence.timeouts)+" times"), now.Text(l.silences.gate)))
	default:
		err = r.do(ctx, l)
	}
	r.reply(err)
	if r.next != nil {
		l.box.follow(r.next)
	}
}
