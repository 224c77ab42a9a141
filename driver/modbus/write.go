package modbus

import (
	"context"
	"errors"
	"fmt"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Reasons why a write is refused here.
var (
	errNoPoint  = errors.New("the device has no such point; write one of its registry")
	errReadOnly = errors.New("is read-only; set writable in the registry if the device allows it")
	errNoScale  = errors.New("the register that scales it cannot be read")
)

// Write implements driver.Writer: it writes the point, reads it back and returns the device's value. Bits of
// a register are written by reading, modifying and writing it: a concurrent write of the register by another
// master is lost.
func (s *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "modbus.Write"
	i, known := s.byName[name]
	if !known {
		return point.Value{}, fault.E(op, fault.NotFound, name, errNoPoint)
	}
	r := &s.registers[i]
	if !r.writable {
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	}
	other, current, err := s.before(ctx, r)
	if err != nil {
		return point.Value{}, s.fail(op, fmt.Errorf("%s: %w", name, err))
	}
	words, err := r.encode(v, current, other)
	if err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, err)
	}
	if sent, err := s.send(ctx, r, words); err != nil && !errors.Is(err, wire.ErrAcknowledge) {
		err = fmt.Errorf("write %s: %w", name, err)
		switch {
		case sent.taken > 0 && !isMute(err):
			err = fmt.Errorf("%w: only the first %d of %d registers (%w)", driver.ErrPartial, sent.taken, len(words), err)
		case sent.taken > 0:
			return point.Value{}, s.open(fmt.Errorf("%w; the device took only the first %d of %d registers, read it", err, sent.taken, len(words)))
		case sent.any && isLost(err):
			return point.Value{}, s.open(fmt.Errorf("%w; whether the device took it is not known, read it", err))
		}
		return point.Value{}, s.fail(op, err)
	}
	return s.readBack(ctx, r, other)
}

// isMute reports whether there was no valid answer.
func isMute(err error) bool {
	return isLost(err) || errors.Is(err, errNoAnswer) || errors.Is(err, errGarbled) || errors.Is(err, wire.ErrGWPathUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// isLost reports whether the answer to a sent request was lost.
func isLost(err error) bool {
	return errors.Is(err, driver.ErrNotConnected) || errors.Is(err, wire.ErrGWTargetFailedToRespond)
}

// open is the fault of a write whose outcome is unknown.
func (s *session) open(err error) error {
	return fault.E("modbus.Write", fault.Timeout, fmt.Sprintf("unit %d at %s", s.unit, s.line.name), err)
}

// before reads what encoding needs: the value of the scaling register and the present words of a bit field.
func (s *session) before(ctx context.Context, r *register) (other float64, current []uint16, err error) {
	if name := r.change.other; name != "" {
		scale := &s.registers[s.byName[name]]
		words, err := s.ask(ctx, s.planner.cover([]int{s.byName[name]}))
		if err != nil {
			return 0, nil, err
		}
		value, ok := scale.decode(words, 0)
		if other, _ = value.Number(); !ok || other == 0 && r.change.op == perRegister {
			return 0, nil, errNoScale
		}
	}
	if r.layout.IsField() {
		current, err = s.ask(ctx, s.planner.cover([]int{s.byName[r.name]}))
	}
	return other, current, err
}

// progress is how far a write got.
type progress struct {
	any   bool // something was sent
	taken int  // registers accepted by the device, if written individually
}

// send writes the words with the configured functions.
func (s *session) send(ctx context.Context, r *register, words []uint16) (sent progress, err error) {
	always := s.multiple != nil && *s.multiple
	never := s.multiple != nil && !*s.multiple
	err = s.line.do(ctx, s.unit, func(c *wire.ModbusClient) error {
		sent.any = true
		switch {
		case r.table == coil && always:
			return c.WriteCoils(r.address, []bool{words[0] != 0})
		case r.table == coil:
			return c.WriteCoil(r.address, words[0] != 0)
		case always || (len(words) > 1 && !never):
			return c.WriteRegisters(r.address, words)
		}
		for i, w := range words {
			if err := c.WriteRegister(r.address+uint16(i), w); err != nil && !errors.Is(err, wire.ErrAcknowledge) {
				return err
			}
			sent.taken++
		}
		return nil
	})
	return sent, err
}

// readBack returns the device's value after a write; none if the device does not report it.
func (s *session) readBack(ctx context.Context, r *register, other float64) (point.Value, error) {
	words, err := s.ask(ctx, s.planner.cover([]int{s.byName[r.name]}))
	switch {
	case err == nil:
	case isMute(err), errors.Is(err, wire.ErrServerDeviceBusy):
		return point.Value{}, s.open(fmt.Errorf("%s was written, but not read back: %w", r.name, err))
	default:
		return point.Value{}, nil // a write-only register: its value is unknown
	}
	value, ok := r.decode(words, other)
	if !ok {
		return point.Value{}, fault.E("modbus.Write", fault.Rejected, r.name, fmt.Errorf("%w: it then reports something that is no value", driver.ErrPartial))
	}
	return value, nil
}
