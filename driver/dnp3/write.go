package dnp3

import (
	"context"
	"errors"
	"fmt"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// Reasons why a write is refused here.
var (
	errNoPoint  = errors.New("the device has no such point; write one of its registry")
	errReadOnly = errors.New("is read-only; set writable in the registry if the device allows it")
)

// Write implements driver.Writer: it operates the point as the registry specifies, reads it back and returns the
// device's value. If the device does not report the point, or not in time, the value is none.
func (n *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "dnp3.Write"
	i, known := n.byName[name]
	if !known {
		return point.Value{}, fault.E(op, fault.NotFound, name, errNoPoint)
	}
	t := &n.items[i]
	if !t.Writable {
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	}
	command, err := t.Command(v, n.values.variation(i))
	if err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, fmt.Errorf("%q %w", v, err))
	}
	if err := n.ready(ctx); err != nil {
		return point.Value{}, n.fail(op, err)
	}
	result, err := n.do(ctx, t.Request(command))
	if errors.Is(err, master.ErrStatus) {
		return point.Value{}, refusal(op, name, result)
	}
	if err != nil {
		return point.Value{}, n.unknown(op, fmt.Errorf("write %s: %w", name, err))
	}
	return n.readBack(ctx, i)
}

// unknown converts an error after sending a command to the contract's: if the line or the device was lost,
// the outcome is unknown.
func (n *session) unknown(op string, err error) error {
	failed := n.fail(op, err)
	if fault.Is(failed, fault.Unreachable) {
		return fault.E(op, fault.Timeout, n.subject, fmt.Errorf("%w; whether the device took it is not known, read it", failed))
	}
	return failed
}

// readBack returns the device's value after a write; none if it reports none.
func (n *session) readBack(ctx context.Context, i int) (point.Value, error) {
	pass := n.values.newPass()
	_, err := n.do(ctx, pointlist.Ask{Members: []int{i}}.Request(n.items))
	if err != nil && !errors.Is(err, master.ErrRefused) {
		return point.Value{}, n.unknown("dnp3.Write", fmt.Errorf("%s was written, but not read back: %w", n.items[i].Name, err))
	}
	s, fresh := n.values.value(i, pass, false)
	if !fresh || s.Quality.IsBad() {
		return point.Value{}, nil
	}
	return s.Value, nil
}

// refusal is StatusFault for the first status other than SUCCESS in an answer.
func refusal(op, subject string, r master.Result) error {
	for _, status := range r.Statuses {
		if status != object.StatusSuccess {
			return pointlist.StatusFault(op, subject, status)
		}
	}
	return pointlist.StatusFault(op, subject, object.StatusUndefined)
}

var (
	_ driver.Writer     = (*session)(nil)
	_ driver.Forgetful  = (*session)(nil)
	_ driver.Lossy      = (*session)(nil)
	_ driver.Dated      = (*session)(nil)
	_ driver.Discoverer = (*session)(nil)
	_ driver.Diagnoser  = (*session)(nil)
)
