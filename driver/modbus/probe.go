package modbus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	wire "github.com/simonvetter/modbus"

	"voltbus/driver/modbus/layout"
	"voltbus/fault"
)

// Area is a run of registers or bits of one table, by wire addresses.
type Area struct {
	Table string // coil, discrete, input or holding
	First uint16
	Count uint16
}

// ParseArea parses "holding:0", "input:30-39" or "coil:8-15": a table, and wire addresses from 0.
func ParseArea(text string) (Area, error) {
	name, numbers, found := strings.Cut(text, ":")
	t, err := parseTable(name, layout.Layout{}, false)
	if err != nil || !found || name == "" {
		return Area{}, fmt.Errorf("%q is no area; write a table and numbers, such as holding:0-9, input:30, coil:0-7 or discrete:3", text)
	}
	from, to, isRange := strings.Cut(numbers, "-")
	if !isRange {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 0, 16)
	last, err2 := strconv.ParseUint(to, 0, 16)
	if err1 != nil || err2 != nil || last < first {
		return Area{}, fmt.Errorf("%q has no numbers from 0 to 65535, the smaller first; write such as %s:0-9", text, t)
	}
	if last-first >= 65535 {
		return Area{}, fmt.Errorf("%q is more than can be read; write at most 65535 numbers", text)
	}
	return Area{Table: t.String(), First: uint16(first), Count: uint16(last - first + 1)}, nil
}

// IsBits reports whether the area's table holds bits.
func (a Area) IsBits() bool { return a.Table == coil.String() || a.Table == discrete.String() }

// String is the inverse of ParseArea.
func (a Area) String() string {
	if a.Count == 1 {
		return fmt.Sprintf("%s:%d", a.Table, a.First)
	}
	return fmt.Sprintf("%s:%d-%d", a.Table, a.First, int(a.First)+int(a.Count)-1)
}

// Probe reads and writes raw words of a line's units, to explore a device. It is used by one goroutine at a
// time.
type Probe struct{ line *line }

// DialProbe opens the line of a configuration, ignoring its registry. The caller closes the Probe.
func DialProbe(ctx context.Context, c *Config) (*Probe, error) {
	l, err := dial(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Probe{line: l.(*line)}, nil
}

// Close closes the line.
func (p *Probe) Close() error { return p.line.Close() }

// Read reads an area of a unit, at most 125 registers or 2,000 bits, and returns its words, one per bit for bits.
// Error kinds are those of Session.Read; fault.Rejected is an exception of the device, which Exception names.
func (p *Probe) Read(ctx context.Context, unit uint8, a Area) ([]uint16, error) {
	s := &session{line: p.line, unit: unit}
	t, err := parseTable(a.Table, layout.Layout{}, false)
	if err != nil {
		return nil, fault.E("modbus.Probe", fault.Invalid, a.String(), err)
	}
	words, err := s.ask(ctx, request{table: t, first: a.First, count: a.Count})
	if err != nil {
		return nil, s.fail("modbus.Probe", hintAt(a, err))
	}
	return words, nil
}

// Write writes words to holding registers, or one per bit to coils, with function 5 or 6 for a single one and 15 or
// 16 for several, and returns what it then reads back.
func (p *Probe) Write(ctx context.Context, unit uint8, a Area, words []uint16) ([]uint16, error) {
	s := &session{line: p.line, unit: unit}
	err := p.line.do(ctx, unit, func(c *wire.ModbusClient) error {
		bits := make([]bool, len(words))
		for i, w := range words {
			bits[i] = w != 0
		}
		switch {
		case a.Table == coil.String() && len(words) == 1:
			return c.WriteCoil(a.First, bits[0])
		case a.Table == coil.String():
			return c.WriteCoils(a.First, bits)
		case a.Table == holding.String() && len(words) == 1:
			return c.WriteRegister(a.First, words[0])
		case a.Table == holding.String():
			return c.WriteRegisters(a.First, words)
		}
		return fmt.Errorf("%s cannot be written; write to holding or coil", a.Table)
	})
	if err != nil {
		return nil, s.fail("modbus.Probe", fmt.Errorf("write %s: %w", a, hintAt(a, err)))
	}
	return p.Read(ctx, unit, a)
}

// Exception returns the name of the exception that a device answered with; "" if it did not answer with one.
func Exception(err error) string {
	for _, e := range []wire.Error{
		wire.ErrIllegalFunction, wire.ErrIllegalDataAddress, wire.ErrIllegalDataValue, wire.ErrServerDeviceFailure, wire.ErrAcknowledge,
		wire.ErrServerDeviceBusy, wire.ErrMemoryParityError, wire.ErrGWPathUnavailable, wire.ErrGWTargetFailedToRespond,
	} {
		if errors.Is(err, e) {
			return e.Error()
		}
	}
	return ""
}

// IsAnswer reports whether a unit itself answered: with data, or with an exception that is not a gateway's.
func IsAnswer(err error) bool {
	return err == nil || (Exception(err) != "" && !errors.Is(err, wire.ErrGWPathUnavailable) && !errors.Is(err, wire.ErrGWTargetFailedToRespond))
}

// hintAt adds to the error about a refused address what such a number usually means.
func hintAt(a Area, err error) error {
	if hint := numbering(a.Table, a.First); hint != "" && errors.Is(err, wire.ErrIllegalDataAddress) {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// numbering explains an address that looks like the numbering of data sheets: from 10001, 30001 and 40001, while the
// wire counts each table from 0.
func numbering(name string, address uint16) string {
	for _, t := range []table{discrete, input, holding} {
		if base := uint16(t.base()); t.String() == name && address >= base && address-base < 9999 {
			return fmt.Sprintf("%d is %s %d on the wire; write that, or addressing: address in a configuration", address, name, address-base)
		}
	}
	return ""
}
