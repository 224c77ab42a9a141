package bacnet

import (
	"context"
	"errors"
	"fmt"

	"voltbus/driver"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// The reasons why a write is refused here.
var (
	errNoPoint  = errors.New("the device has no such point; write one of its registry")
	errReadOnly = errors.New("is read-only; set writable in the registry if the device allows it")
	errNoValue  = errors.New("is no value; write one")
	errNoArray  = errors.New("has no priority array, so that it keeps what was written; write priority in the registry if the object has one")
)

var _ driver.Prioritizer = (*session)(nil)

// Write implements driver.Writer: at the priority of the registry, where the object has a priority array.
func (s *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	if i, known := s.byName[name]; known && v.Kind() == point.None && s.items[i].Writable {
		return point.Value{}, fault.E("bacnet.Write", fault.Invalid, name, errNoValue)
	}
	return s.Command(ctx, name, driver.Command{Value: v})
}

// Command implements driver.Prioritizer.
func (s *session) Command(ctx context.Context, name string, c driver.Command) (point.Value, error) {
	const op = "bacnet.Write"
	t, err := s.writable(name, c)
	if err != nil {
		return point.Value{}, err
	}
	if !c.Relinquishes() {
		if _, err := t.Rounded(c.Value); err != nil { // before anything is asked
			return point.Value{}, fault.E(op, fault.Invalid, name, err)
		}
	}
	remote, err := s.reach(ctx)
	if err != nil {
		return point.Value{}, s.unsent(op, err)
	}
	writes, err := s.writes(ctx, remote, t, c)
	if err != nil {
		return point.Value{}, err
	}
	remote.Retries = -1 // a repeat could undo what somebody else writes meanwhile
	for i, w := range writes {
		if err := remote.Write(ctx, t.property(), w.value, w.priority); err != nil {
			return point.Value{}, s.unwritten(op, name, w, i, err)
		}
	}
	return s.readBack(ctx, t)
}

// commandWrite is one write of a command.
type commandWrite struct {
	value    encoding.Value
	priority uint8
}

func (w commandWrite) String() string {
	if w.value.Kind() == encoding.KindNull {
		return fmt.Sprintf("relinquish priority %d", w.priority)
	}
	if w.priority == 0 {
		return "write " + w.value.String()
	}
	return fmt.Sprintf("write %v at priority %d", w.value, w.priority)
}

// item is a point that is written.
type item struct{ *pointlist.Item }

func (t item) property() client.Property {
	return client.Property{Object: t.Object, Property: t.Property, Index: t.Index}
}

// writable returns the point, or why it cannot be commanded so.
func (s *session) writable(name string, c driver.Command) (item, error) {
	const op = "bacnet.Write"
	i, known := s.byName[name]
	if !known {
		return item{}, fault.E(op, fault.NotFound, name, errNoPoint)
	}
	t := item{&s.items[i]}
	switch {
	case !t.Writable:
		return item{}, fault.E(op, fault.Refused, name, errReadOnly)
	case c.Relinquishes() && !t.Prioritized:
		return item{}, fault.E(op, fault.Refused, name, errNoArray)
	case t.Prioritized && c.Level > 0 && c.Level < s.config.MinPriority:
		return item{}, fault.E(op, fault.Refused, name, fmt.Errorf(
			"level %d is more urgent than this device may be commanded at; use level %d or a higher number, or change min_priority", c.Level, s.config.MinPriority))
	}
	return t, nil
}

// writes are what a command is to the device: the value first, then null at the priorities that the node had.
func (s *session) writes(ctx context.Context, remote client.Remote, t item, c driver.Command) (list []commandWrite, err error) {
	const op = "bacnet.Write"
	priority := t.Priority
	if c.Level > 0 {
		priority = uint8(c.Level)
	}
	if !c.Relinquishes() {
		like := s.states[s.byName[t.Name]].like
		if t.Unknown() && like == encoding.KindNull {
			if like, err = present(ctx, remote, t.property()); err != nil {
				return nil, s.unsent(op, err)
			}
		}
		v, err := t.Encode(c.Value, like)
		if err != nil {
			return nil, fault.E(op, fault.Invalid, t.Name, err)
		}
		w := commandWrite{value: v}
		if t.Prioritized {
			w.priority = priority
		}
		list = append(list, w)
	}
	if !t.Prioritized {
		return list, nil
	}
	back := c.Back
	if c.Relinquishes() && back == 0 {
		back = driver.LevelsOf(int(priority))
	}
	for level := 1; level <= constructed.Priorities; level++ {
		if back.Has(level) && (c.Relinquishes() || level != int(priority)) {
			list = append(list, commandWrite{encoding.Null(), uint8(level)})
		}
	}
	return list, nil
}

// present returns the type of the value that a property has.
func present(ctx context.Context, remote client.Remote, p client.Property) (encoding.Kind, error) {
	data, err := remote.ReadProperty(ctx, p)
	if err != nil {
		return encoding.KindNull, err
	}
	v, err := data.One()
	return v.Kind(), err
}

// unsent is the fault of a write of which nothing was sent.
func (s *session) unsent(op string, err error) error {
	err = s.fail(op, err)
	if fault.KindOf(err) == fault.Timeout {
		return fault.E("", fault.Unreachable, "", err)
	}
	return err
}

// unwritten is the fault of a write that failed, after some others that did not.
func (s *session) unwritten(op, name string, w commandWrite, done int, err error) error {
	switch {
	case declined(err):
		err = fmt.Errorf("%v: %w", w, explain(err))
		if done > 0 {
			err = fmt.Errorf("%w: %w", driver.ErrPartial, err)
		}
		return fault.E(op, kindOf(err), name, err)
	case errors.Is(err, client.ErrQueueFull), errors.Is(err, client.ErrClosed) && done == 0:
		return s.fail(op, err)
	}
	failed := s.fail(op, fmt.Errorf("%v: %w", w, err))
	if kind := fault.KindOf(failed); kind != fault.Timeout && kind != fault.Canceled {
		return fault.E("", fault.Timeout, "", failed)
	}
	return failed
}

// readBack returns what the point reports after a write; none if it does not tell.
func (s *session) readBack(ctx context.Context, t item) (point.Value, error) {
	const op = "bacnet.Write"
	data, err := s.station.remote.ReadProperty(ctx, t.property())
	switch {
	case declined(err):
		return point.Value{}, nil // it can only be written
	case err != nil:
		return point.Value{}, fault.E(op, fault.Timeout, t.Name, fmt.Errorf("was written, but not read back: %w", s.fail(op, err)))
	}
	v, ok := t.Decode(data)
	if !ok {
		return point.Value{}, fault.E(op, fault.Rejected, t.Name, fmt.Errorf("%w: it then reports something that is no value of the point", driver.ErrPartial))
	}
	return v, nil
}

// Priorities implements driver.Prioritizer. A value that is none of the point, such as one of a vendor's type, is its text.
func (s *session) Priorities(ctx context.Context, name string) (array driver.PriorityArray, err error) {
	const op = "bacnet.Priorities"
	i, known := s.byName[name]
	if !known {
		return array, fault.E(op, fault.NotFound, name, errNoPoint)
	}
	t := &s.items[i]
	if !t.IsPresentValue() {
		return array, fault.E(op, fault.Refused, name, errNoArray)
	}
	remote, err := s.reach(ctx)
	if err != nil {
		return array, s.fail(op, err)
	}
	values, err := remote.ReadArray(ctx, client.Property{Object: t.Object, Property: enum.PropertyPriorityArray})
	switch {
	case isAbsent(err):
		return array, fault.E(op, fault.Refused, name, errNoArray)
	case err != nil:
		return array, s.fail(op, err)
	case len(values) != constructed.Priorities:
		return array, fault.E(op, fault.Corrupt, name, fmt.Errorf("the priority array has %d elements instead of %d", len(values), constructed.Priorities))
	}
	for k, v := range values {
		array.Levels[k] = shown(t, v)
	}
	otherwise, err := remote.ReadProperty(ctx, client.Property{Object: t.Object, Property: enum.PropertyRelinquishDefault})
	switch {
	case declined(err): // some devices have none
		return array, nil
	case err != nil:
		return array, s.fail(op, err)
	}
	if v, err := otherwise.One(); err == nil {
		array.Default = shown(t, v)
	}
	return array, nil
}

// shown returns a value of a point's object as one of the point, or as a text; none for null.
func shown(t *pointlist.Item, v encoding.Value) point.Value {
	if v.Kind() == encoding.KindNull {
		return point.Value{}
	}
	if shown, ok := t.Decode(encoding.Encode(v)); ok {
		return shown
	}
	return point.TextOf(v.String())
}
