package master

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// Command is a command for one point.
type Command struct {
	// Variation is g12v1, with a CROB, g12v2, with a CROB and the points it is for in
	// Indexes, or g41v1–4, with a Value.
	Variation object.Variation
	Index     uint32
	CROB      object.CROB
	Value     object.Value
	// Indexes are the points of a pattern (g12v2), in ascending order.
	Indexes []uint32
}

// Pattern commands several binary outputs in the same way with one block and a mask of
// bits (g12v2 and g12v3). The outstation answers with one status for all of them.
func Pattern(block object.CROB, indexes ...uint32) Command {
	return Command{Variation: object.G12V2, CROB: block, Indexes: indexes}
}

// Latch switches a binary output on or off.
func Latch(index uint32, on bool) Command {
	code := object.OpLatchOff
	if on {
		code = object.OpLatchOn
	}
	return Command{Variation: object.G12V1, Index: index, CROB: object.CROB{Code: code, Count: 1}}
}

// Setpoint sets an analog output in double precision.
func Setpoint(index uint32, x float64) Command {
	return Command{Variation: object.G41V4, Index: index, Value: object.Float(x)}
}

// Operate carries commands out at once.
func Operate(commands ...Command) *Request {
	return &Request{
		name: "direct operate", priority: Control,
		exchange: &operate{commands: commands, code: app.FuncDirectOperate},
	}
}

// SelectOperate selects first, and operates only if the outstation accepts all
// commands of the selection.
func SelectOperate(commands ...Command) *Request {
	return &Request{
		name: "select before operate", priority: Control,
		exchange: &operate{commands: commands, code: app.FuncSelect},
	}
}

// OperateUnanswered carries commands out at once; the outstation does not answer, so
// success means only that they were sent.
func OperateUnanswered(commands ...Command) *Request {
	return &Request{
		name: "direct operate, no answer", priority: Control,
		exchange: &operate{commands: commands, code: app.FuncDirectOperateNoAck},
	}
}

// operate is an exchange of commands.
type operate struct {
	commands []Command
	code     app.Function
	again    bool
}

func (o *operate) function() app.Function { return o.code }

func (o *operate) write(w *app.Writer, _ time.Time) error {
	for i := range o.commands {
		if err := o.commands[i].write(w); err != nil {
			return err
		}
	}
	return nil
}

func (c *Command) write(w *app.Writer) error {
	switch {
	case c.Variation == object.G12V1:
		return w.CROB(c.Index, c.CROB)
	case c.Variation == object.G12V2:
		return c.writePattern(w)
	case c.Variation.Kind() == object.KindAnalogCommand:
		return w.Indexed(c.Variation, object.Point{Index: c.Index, Value: c.Value})
	default:
		return fmt.Errorf("%v: %w", c.Variation, app.ErrVariation)
	}
}

// maxMask is the most points that one mask spans.
const maxMask = 4096

// writePattern writes a block and a mask from the first to the last of its points.
func (c *Command) writePattern(w *app.Writer) error {
	n := len(c.Indexes)
	if n == 0 || !slices.IsSorted(c.Indexes) || c.Indexes[n-1]-c.Indexes[0] >= maxMask {
		return fmt.Errorf("pattern for points %v: %w", c.Indexes, errPattern)
	}
	if err := w.Pattern(c.CROB); err != nil {
		return err
	}
	rest := c.Indexes
	for i := c.Indexes[0]; i <= c.Indexes[n-1]; i++ {
		on := len(rest) > 0 && rest[0] == i
		for len(rest) > 0 && rest[0] == i {
			rest = rest[1:]
		}
		if err := w.Static(object.G12V3, object.Point{Index: i, Value: object.Bool(on)}); err != nil {
			return err
		}
	}
	return nil
}

var errPattern = errors.New("give it points in ascending order, the last less than 4096 behind the first")

// answer compares the answer, which must repeat the commands in their order, and reads
// the statuses.
func (o *operate) answer(f app.Fragment, _ time.Time, result *Result) error {
	o.again = false
	result.Statuses = result.Statuses[:0]
	var first error
	for h, err := range f.Headers() {
		if err != nil {
			return err
		}
		for raw := range h.Objects() {
			n := len(result.Statuses)
			if n == len(o.commands) || !o.commands[n].echoed(raw) {
				return fmt.Errorf("object %d of the answer is not the command sent: %w", n, ErrMalformed)
			}
			status := object.Status(raw.Data[len(raw.Data)-1] & 0x7F)
			result.Statuses = append(result.Statuses, status)
			if status != object.StatusSuccess && first == nil {
				first = fmt.Errorf("%v index %d: %v: %w", raw.Variation, raw.Index, status, ErrStatus)
			}
		}
	}
	switch {
	case first != nil:
		return first
	case len(result.Statuses) < len(o.commands) && !refused(f.IIN):
		return fmt.Errorf("%d of %d commands are answered: %w", len(result.Statuses), len(o.commands), ErrMalformed)
	case o.code == app.FuncSelect && !refused(f.IIN):
		o.code, o.again = app.FuncOperate, true
	}
	return nil
}

func (o *operate) more() bool { return o.again }

// echoed reports whether an object of the answer stands for the command. Values are
// compared by their point only: some outstations round them.
func (c *Command) echoed(raw object.Raw) bool {
	return len(raw.Data) > 0 && raw.Variation == c.Variation && raw.Index == c.Index
}
