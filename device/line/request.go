package line

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

// Reasons why a device cannot be accessed now.
var (
	errReplaced = errors.New("its configuration has just changed; try again")
	errNoWriter = errors.New("its driver cannot write")
	errKeeps    = errors.New("its driver cannot give a point back to the device, so it keeps what was written; write a default in the configuration")
)

// Read reads points of a device by a request to its line, and waits for the answer at most until ctx ends: names are the points'
// names in the driver, paths their full paths.
func Read(ctx context.Context, u *Device, paths []point.Path, names []string) ([]point.Sample, error) {
	var samples []point.Sample // owned by the line until it has answered
	if err := ask(ctx, u, reading(ctx, u, paths, names, &samples)); err != nil {
		return nil, err
	}
	return samples, nil
}

// Write sets the point of a device, given by its index, by a request to its line, and waits as Read does. It returns the value that the
// device then reports.
func Write(ctx context.Context, u *Device, place int, v point.Value) (point.Value, error) {
	w := &write{caller: ctx, unit: u, index: place, command: driver.Command{Value: v}}
	if err := ask(ctx, u, w.do); err != nil {
		return point.Value{}, err
	}
	return w.reported, nil
}

// Freeze makes a device freeze its counters, and then clear them if clears is set, by a request to its line, and waits as Read
// does. It returns the resulting values of the points.
func Freeze(ctx context.Context, u *Device, clears bool) ([]point.Sample, error) {
	z := &freeze{caller: ctx, unit: u, clears: clears}
	if err := ask(ctx, u, z.do); err != nil {
		return nil, err
	}
	return z.shown, nil
}

// Call runs do on a device by a request to its line, and waits as Read does.
func Call(ctx context.Context, u *Device, do func(context.Context, driver.Session) error) error {
	return ask(ctx, u, func(lineCtx context.Context, l *Line) error {
		_, err := l.attempt(lineCtx, u, true, onBehalf(ctx, do))
		return err
	})
}

// ask runs do on the device's line, and waits for it.
func ask(ctx context.Context, u *Device, do func(context.Context, *Line) error) error {
	r := newRequest(ctx, u, do)
	if err := u.line.box.putOrRefuse(r); err != nil {
		return fault.E("device.request", fault.Unavailable, "", err)
	}
	return r.wait(ctx)
}

// write is the request that sets a point.
type write struct {
	caller   context.Context //nolint:containedctx // who waits for it; the line has one of its own
	unit     *Device
	index    int
	command  driver.Command
	reported point.Value // the value that the device then reports
}

func (w *write) do(lineCtx context.Context, l *Line) error {
	now, err := l.attempt(lineCtx, w.unit, false, onBehalf(w.caller, w.ask)) //nolint:contextcheck // that of the caller ends it, too
	if err == nil && w.reported.Kind() != point.None {
		l.publisher.confirm(w.unit, w.index, w.reported, now)
	}
	return err
}

func (w *write) ask(ctx context.Context, s driver.Session) (err error) {
	writer, can := s.(driver.Writer)
	prioritizer, has := s.(driver.Prioritizer)
	switch name := w.unit.names[w.index]; {
	case !can:
		return fault.E("device.write", fault.Refused, "", errNoWriter)
	case has:
		w.reported, err = prioritizer.Command(ctx, name, w.command)
	case w.command.Relinquishes():
		return fault.E("device.write", fault.Refused, "", errKeeps)
	default:
		w.reported, err = writer.Write(ctx, name, w.command.Value)
	}
	if trouble.IsLineLost(err) && fault.KindOf(err) == fault.Internal { // the driver says nothing more
		err = fault.E("device.write", fault.Timeout, "", fmt.Errorf("the line was lost meanwhile, the outcome is unknown: %w", err))
	}
	return err
}

// onBehalf lets ask also end when the caller gives up, and marks its error in that case, or if the request was declined.
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

func newRequest(ctx context.Context, u *Device, do func(context.Context, *Line) error) *request {
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
	case err := <-r.done: // it came in time
		return err
	default:
		return r.late(ctx)
	}
}

// late is the answer if the caller has stopped waiting.
func (r *request) late(ctx context.Context) error {
	return fault.E("device.request", trouble.KindOf(ctx.Err()), "", fmt.Errorf("wait for line %s: %w", r.unit.line.Key.Name, ctx.Err()))
}

// serve answers a request.
func (l *Line) serve(ctx context.Context, r *request, now clock.Instant) {
	u := r.unit
	var err error
	switch {
	case r.dropped():
		err = context.Canceled // nobody is waiting
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
