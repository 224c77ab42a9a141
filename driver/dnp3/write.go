package dnp3

import (
	"context"
	"errors"
	"fmt"
	"math"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// The reasons why a write is refused here.
var (
	errNoPoint  = errors.New("the device has no such point; write one of its registry")
	errReadOnly = errors.New("is read-only; set writable in the registry if the device allows it")
	errNoState  = errors.New("does not fit; write true or false")
	errNoPulse  = errors.New("cannot be switched off: its control is pulse; write true, or set control in the registry")
	errNoNumber = errors.New("does not fit; write a number")
	errNoWhole  = errors.New("does not fit: the device takes whole numbers there; write one, or set scale, or variation 3 or 4, in the registry")
)

// Write implements driver.Writer: it operates the point as the registry says, reads it back and
// returns what the device then says. A device that does not show the point, or does not show it in time, has said
// nothing: the value is none.
func (n *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "dnp3.Write"
	i, known := n.byName[name]
	if !known {
		return point.Value{}, fault.E(op, fault.NotFound, name, errNoPoint)
	}
	t := &n.items[i]
	if !t.writable {
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	}
	command, err := t.command(v, n.values.variation(i))
	if err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, fmt.Errorf("%q %w", v, err))
	}
	if err := n.ready(ctx); err != nil {
		return point.Value{}, n.fail(op, err)
	}
	result, err := n.do(ctx, t.request(command))
	if errors.Is(err, master.ErrStatus) {
		return point.Value{}, refusal(op, name, result)
	}
	if err != nil {
		return point.Value{}, n.unknown(op, fmt.Errorf("write %s: %w", name, err))
	}
	return n.readBack(ctx, i)
}

// unknown turns an error after a command was sent into the contract's: if the line or the device was
// lost, nobody knows whether it was carried out.
func (n *session) unknown(op string, err error) error {
	failed := n.fail(op, err)
	if fault.Is(failed, fault.Unreachable) {
		return fault.E(op, fault.Timeout, n.subject, fmt.Errorf("%w; whether the device took it is not known, read it", failed))
	}
	return failed
}

// request puts a command into a request.
func (t *item) request(c master.Command) *master.Request {
	switch t.operate.how {
	case operateDirect:
		return master.Operate(c)
	case operateNoAnswer:
		return master.OperateUnanswered(c)
	}
	return master.SelectOperate(c)
}

// command returns the command that sets the point to a value. shown is the number of the
// variation in which the device shows it.
func (t *item) command(v point.Value, shown uint8) (master.Command, error) {
	if t.kind == object.KindBinaryOutput {
		return t.switching(v)
	}
	x, ok := v.Number()
	if raw := (x - t.offset) / t.scale; ok && !math.IsNaN(raw) && !math.IsInf(raw, 0) {
		return t.setting(raw, shown)
	}
	return master.Command{}, errNoNumber
}

// switching makes a control block.
func (t *item) switching(v point.Value) (master.Command, error) {
	if x, ok := v.Number(); !ok || x != 0 && x != 1 {
		return master.Command{}, errNoState
	}
	o := &t.operate
	block := object.CROB{Count: o.count, OnTime: o.on, OffTime: o.off}
	switch on := v.Bool(); {
	case o.control == controlTripClose && on:
		block.Code = object.OpPulseOn | object.OpClose
	case o.control == controlTripClose:
		block.Code = object.OpPulseOn | object.OpTrip
	case o.control == controlPulse && on:
		block.Code = object.OpPulseOn
	case o.control == controlPulse:
		return master.Command{}, errNoPulse
	case on:
		block.Code = object.OpLatchOn
	default:
		block.Code = object.OpLatchOff
	}
	return master.Command{Variation: object.G12V1, Index: t.index, CROB: block}, nil
}

// almost is how far from a whole number the arithmetic of scale and offset may leave one.
const almost = 1e-6

// setting makes an analog command of the size that the registry or the device says; single precision if neither does,
// or if the device shows whole numbers and the value is none. A scaled value is rounded to the step of the object.
func (t *item) setting(raw float64, shown uint8) (master.Command, error) {
	broken := !t.scaled() && math.Abs(raw-math.Round(raw)) > almost
	size := t.variation
	if size == 0 && !broken {
		size = shown
	}
	if size == 0 {
		size = object.G41V3.Number()
	}
	if broken && size <= object.G41V2.Number() {
		return master.Command{}, errNoWhole
	}
	c := master.Command{Variation: object.Of(object.G41V1.Group(), size), Index: t.index, Value: object.Float(raw)}
	low, high := -math.MaxFloat64, math.MaxFloat64
	switch c.Variation {
	case object.G41V1:
		low, high, c.Value = math.MinInt32, math.MaxInt32, object.Signed(object.Float(raw).Int())
	case object.G41V2:
		low, high, c.Value = math.MinInt16, math.MaxInt16, object.Signed(object.Float(raw).Int())
	case object.G41V3:
		low, high = -math.MaxFloat32, math.MaxFloat32
	default: // double precision takes anything
	}
	if rounded := math.Round(raw); rounded > high || rounded < low {
		return c, fmt.Errorf("does not fit; the device takes raw values from %.10g to %.10g", low, high)
	}
	return c, nil
}

// readBack returns what the device shows after a write; none if it shows nothing.
func (n *session) readBack(ctx context.Context, i int) (point.Value, error) {
	pass := n.values.newPass()
	_, err := n.do(ctx, ask{[]int{i}}.request(n.items))
	if err != nil && !errors.Is(err, master.ErrRefused) {
		return point.Value{}, n.unknown("dnp3.Write", fmt.Errorf("%s was written, but not read back: %w", n.items[i].name, err))
	}
	s, fresh := n.values.value(i, pass, false)
	if !fresh || s.Quality.IsBad() {
		return point.Value{}, nil
	}
	return s.Value, nil
}

// statusText says what a control status means, and what to do.
type statusText struct {
	kind fault.Kind
	text string
}

var statusTable = map[object.Status]statusText{
	object.StatusTimeout:            {fault.Rejected, "the operate came too long after the select; the line may be too slow for sbo"},
	object.StatusNoSelect:           {fault.Rejected, "the device misses the select; another master may have been between, try again"},
	object.StatusFormatError:        {fault.Invalid, "the device does not understand the command; check its control, count and times"},
	object.StatusNotSupported:       {fault.Rejected, "the point cannot do this operation; try another control (latch, pulse, trip and close) or the other way to operate (direct, select first)"},
	object.StatusAlreadyActive:      {fault.Conflict, "the point is busy with an operation, or there already"},
	object.StatusHardwareError:      {fault.Rejected, "the hardware prevents it"},
	object.StatusLocal:              {fault.Rejected, "the point is switched to local control; switch it to remote at the device"},
	object.StatusTooManyObjects:     {fault.Rejected, "the device takes fewer commands at once"},
	object.StatusNotAuthorized:      {fault.Refused, "this master may not operate the point; allow it at the device"},
	object.StatusAutomationInhibit:  {fault.Rejected, "an automation at the device prevents it"},
	object.StatusProcessingLimited:  {fault.Unavailable, "the device is too busy; try again"},
	object.StatusOutOfRange:         {fault.Invalid, "the value is out of the point's range"},
	object.StatusDownstreamLocal:    {fault.Rejected, "a device behind this one is in local control"},
	object.StatusAlreadyComplete:    {fault.Conflict, "the operation is done already"},
	object.StatusBlocked:            {fault.Rejected, "the point is blocked, such as by an interlock"},
	object.StatusCanceled:           {fault.Rejected, "the operation was cancelled at the device"},
	object.StatusBlockedOtherMaster: {fault.Conflict, "another master holds the right to operate"},
	object.StatusDownstreamFail:     {fault.Rejected, "a device behind this one failed"},
	object.StatusNonParticipating:   {fault.Rejected, "the device takes no part in this command"},
	object.StatusUndefined:          {fault.Rejected, "the device gives no reason"},
}

// StatusFault turns a control status that is not SUCCESS into a fault about the subject.
func StatusFault(op, subject string, status object.Status) error {
	t, known := statusTable[status]
	if !known {
		t = statusText{fault.Rejected, "the device gives a reason that the standard does not know"}
	}
	return fault.E(op, t.kind, subject, fmt.Errorf("the device refused the command with %v: %s", status, t.text))
}

// refusal is StatusFault for the first status of an answer that is not SUCCESS.
func refusal(op, subject string, r master.Result) error {
	for _, status := range r.Statuses {
		if status != object.StatusSuccess {
			return StatusFault(op, subject, status)
		}
	}
	return StatusFault(op, subject, object.StatusUndefined)
}

var (
	_ driver.Writer     = (*session)(nil)
	_ driver.Forgetful  = (*session)(nil)
	_ driver.Lossy      = (*session)(nil)
	_ driver.Dated      = (*session)(nil)
	_ driver.Discoverer = (*session)(nil)
	_ driver.Diagnoser  = (*session)(nil)
)
