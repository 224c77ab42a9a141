package pointlist

import (
	"errors"
	"fmt"
	"math"

	"voltbus/point"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// Reasons why a value cannot be commanded.
var (
	errNoState  = errors.New("does not fit; write true or false")
	errNoPulse  = errors.New("cannot be switched off: its control is pulse; write true, or set control in the registry")
	errNoNumber = errors.New("does not fit; write a number")
	errNoWhole  = errors.New("does not fit: the device takes whole numbers there; write one, or set scale, or variation 3 or 4, in the registry")
)

// Request puts a command into a request.
func (t *Item) Request(c master.Command) *master.Request {
	switch t.operate.how {
	case OperateDirect:
		return master.Operate(c)
	case OperateNoAnswer:
		return master.OperateUnanswered(c)
	}
	return master.SelectOperate(c)
}

// Command returns the command that sets the point to a value. shown is the variation in which the device
// reports it.
func (t *Item) Command(v point.Value, shown uint8) (master.Command, error) {
	if t.Kind == object.KindBinaryOutput {
		return t.switching(v)
	}
	x, ok := v.Number()
	if raw := (x - t.offset) / t.scale; ok && !math.IsNaN(raw) && !math.IsInf(raw, 0) {
		return t.setting(raw, shown)
	}
	return master.Command{}, errNoNumber
}

// switching makes a control block.
func (t *Item) switching(v point.Value) (master.Command, error) {
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
	return master.Command{Variation: object.G12V1, Index: t.Index, CROB: block}, nil
}

// almost is the deviation from a whole number that the arithmetic of scale and offset may cause.
const almost = 1e-6

// setting makes an analog command of the size given by the registry or the device; single precision if neither does,
// or if the device reports whole numbers and the value is fractional. A scaled value is rounded to the step of the
// object.
func (t *Item) setting(raw float64, shown uint8) (master.Command, error) {
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
	c := master.Command{Variation: object.Of(object.G41V1.Group(), size), Index: t.Index, Value: object.Float(raw)}
	low, high := -math.MaxFloat64, math.MaxFloat64
	switch c.Variation {
	case object.G41V1:
		low, high, c.Value = math.MinInt32, math.MaxInt32, object.Signed(object.Float(raw).Int())
	case object.G41V2:
		low, high, c.Value = math.MinInt16, math.MaxInt16, object.Signed(object.Float(raw).Int())
	case object.G41V3:
		low, high = -math.MaxFloat32, math.MaxFloat32
	default: // double precision holds anything
	}
	if rounded := math.Round(raw); rounded > high || rounded < low {
		return c, fmt.Errorf("does not fit; the device takes raw values from %.10g to %.10g", low, high)
	}
	return c, nil
}

// Encode returns the value that the point will show after being commanded to a value, or an error about what does not fit.
// For an analog output whose variation the registry leaves to the device, only the device knows what it can hold.
func (t *Item) Encode(v point.Value) (point.Value, error) {
	if !t.Writable {
		return v, nil
	}
	x, numeric := v.Number()
	if t.Kind == object.KindBinaryOutput {
		if !numeric || x != 0 && x != 1 {
			return v, fmt.Errorf("%q %w", v, errNoState)
		}
		return v, nil
	}
	raw := (x - t.offset) / t.scale
	switch {
	case !numeric, math.IsNaN(raw), math.IsInf(raw, 0):
		return v, fmt.Errorf("%q %w", v, errNoNumber)
	case t.variation == 0:
		return v, nil
	}
	command, err := t.setting(raw, 0)
	if err != nil {
		return v, fmt.Errorf("%q %w", v, err)
	}
	holds := command.Value.Float()
	if command.Variation == object.G41V3 {
		holds = float64(float32(holds))
	}
	return point.FloatOf(holds*t.scale + t.offset), nil
}
