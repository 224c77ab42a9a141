package master

import (
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// Command is a command for one point.
type Command struct {
	// Variation is g12v1, with a CROB, or g41v1–4, with a Value.
	Variation object.Variation
	Index     uint32
	CROB      object.CROB
	Value     object.Value
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
		c := &o.commands[i]
		if c.Variation == object.G12V1 {
			if err := w.CROB(c.Index, c.CROB); err != nil {
				return err
			}
			continue
		}
		if c.Variation.Kind() != object.KindAnalogCommand {
			return fmt.Errorf("%v: %w", c.Variation, app.ErrVariation)
		}
		if err := w.Indexed(c.Variation, object.Point{Index: c.Index, Value: c.Value}); err != nil {
			return err
		}
	}
	return nil
}

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
