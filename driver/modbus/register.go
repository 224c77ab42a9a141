package modbus

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// table is one of the four address spaces of a device.
type table uint8

const (
	coil     table = iota // bits, read by function 1, written by 5 and 15
	discrete              // bits, read by function 2
	input                 // registers, read by function 4
	holding               // registers, read by function 3, written by 6 and 16
)

func (t table) String() string {
	return [...]string{"coil", "discrete", "input", "holding"}[t]
}

// bits reports whether the table holds bits instead of registers.
func (t table) bits() bool { return t == coil || t == discrete }

// base is the first number of the table in addressing that includes the table.
func (t table) base() int { return [...]int{1, 10001, 30001, 40001}[t] }

// register is one entry of the registry, checked: a point and where it is on the device.
type register struct {
	name        string
	table       table
	address     uint16 // on the wire, from 0
	layout      layout.Layout
	change      transform
	missing     *uint64 // raw value that stands for none; nil if there is no such value
	states      states
	unit        string
	description string
	writable    bool
	preset      point.Value // the registry's default; None if it has none
	min, max    *float64    // limits of commanded values; nil is open
	tags        map[string]string
}

// info describes the register's point.
func (r *register) info() point.Info {
	return point.Info{
		Path: point.Path(r.name), Kind: r.kind(), Unit: r.unit, Description: r.description,
		Writable: r.writable, Tags: maps.Clone(r.tags), Default: r.preset, Min: r.min, Max: r.max,
	}
}

func (r *register) kind() point.Kind {
	if len(r.states.names) > 0 {
		return point.Text
	}
	if r.change.kind != point.None {
		return r.change.kind
	}
	return r.layout.Kind()
}

// compile checks the registry once and stores the registers and problems.
func (c *Config) compile() {
	if c.registers != nil {
		return
	}
	c.problems = nil
	c.registers = make([]register, 0, len(c.Registry.Entries))
	names := make(map[string]*Entry)
	for i := range c.Registry.Entries {
		e := &c.Registry.Entries[i]
		if e.at.Key == "" {
			e.at.Key = fmt.Sprintf("registry[%d]", i)
		}
		r, problems := c.check(e)
		if first := names[r.name]; first != nil && r.name != "" {
			problems = append(problems, e.problem("name", "stands there twice, first as "+first.place()+"; write another name"))
		}
		names[r.name] = e
		c.problems = append(c.problems, problems...)
		if len(problems) == 0 {
			c.registers = append(c.registers, r)
		}
	}
	c.problems = append(c.problems, c.checkScales()...)
}

// place is the location of an entry.
func (e *Entry) place() string {
	if e.at.Row > 0 {
		return fmt.Sprintf("row %d", e.at.Row)
	}
	return e.at.Key
}

// checkScales reports transforms whose other register is missing.
func (c *Config) checkScales() (problems []error) {
	byName := make(map[string]*register)
	byRegister := make(map[string]string)
	for i := range c.registers {
		byName[c.registers[i].name] = &c.registers[i]
	}
	for i := range c.Registry.Entries {
		e := &c.Registry.Entries[i]
		byRegister[e.Register] = e.label()
	}
	for i := range c.registers {
		r := &c.registers[i]
		if r.change.other == "" {
			continue
		}
		if name, found := byRegister[r.change.other]; found && byName[r.change.other] == nil {
			r.change.other = name
		}
		other := byName[r.change.other]
		if other == nil || other.kind() == point.Text || other.change.other != "" {
			problems = append(problems, c.entryOf(r.name).problem("transform",
				fmt.Sprintf("needs the numeric register %q, which the registry does not have; add it", r.change.other)))
		}
	}
	return problems
}

func (c *Config) entryOf(name string) *Entry {
	for i := range c.Registry.Entries {
		if c.Registry.Entries[i].label() == name {
			return &c.Registry.Entries[i]
		}
	}
	return &Entry{}
}

// check converts an entry to a register and reports all its problems.
func (c *Config) check(e *Entry) (r register, problems []error) {
	add := func(field string, err error) {
		if err != nil {
			problems = append(problems, e.problem(field, err.Error()))
		}
	}
	var err error
	r = register{name: e.label(), unit: e.Unit, description: e.Description, tags: e.Tags}
	add("name", checkName(r.name))
	r.writable, err = parseBool(e.Writable)
	add("writable", err)
	r.layout, err = e.layout(c.ByteOrder)
	if err != nil {
		add("type", err)
		return r, problems // the rest depends on the type
	}
	add("type", c.checkSize(r.layout))
	r.table, err = parseTable(e.Table, r.layout, r.writable)
	add("table", err)
	add("writable", checkWritable(r.table, r.writable))
	add("table", checkTable(r.table, r.layout))
	r.address, err = parseAddress(e.Address, c.Addressing, r.table, r.layout)
	add("address", err)
	r.change, err = parseTransform(e, r.layout)
	add("transform", err)
	r.missing, err = parseMissing(e.Missing, r.layout)
	add("missing", err)
	r.states, err = parseStates(e.States, r.layout, r.change)
	add("states", err)
	if e.Default != "" && len(problems) == 0 {
		r.preset, err = parseValue(e.Default, r.kind())
		add("default", err)
	}
	r.min, err = parseLimit(e.Min)
	add("min", err)
	r.max, err = parseLimit(e.Max)
	add("max", err)
	return r, problems
}

// layout parses the entry's type, byte order and bits.
func (e *Entry) layout(deviceOrder string) (layout.Layout, error) {
	ord, err := layout.ParseOrder(deviceOrder)
	if err != nil {
		ord = layout.Order{} // already reported for the device
	}
	l, ordered, err := layout.Parse(e.Type)
	if err != nil {
		return layout.Layout{Words: 1}, err
	}
	if !ordered {
		l.Order = ord
	}
	if e.ByteOrder != "" {
		if l.Order, err = layout.ParseOrder(e.ByteOrder); err != nil {
			return l, err
		}
	}
	mixed, err := parseBool(e.MixedEndian)
	if err != nil {
		return l, fmt.Errorf("mixed_endian: %w", err)
	}
	if mixed {
		l.Order.Words = !l.Order.Words
	}
	return l, l.SetBits(e.Bit)
}

// parseLimit parses the end of a range; nil for none.
func parseLimit(s string) (*float64, error) {
	if s == "" {
		return nil, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("%q is not a number; write one in the point's unit, or nothing", s)
	}
	return &x, nil
}

func checkName(name string) error {
	if strings.Contains(name, "\x00") || name == "" {
		return errors.New("is missing; write the point's name")
	}
	return point.Path(name).Validate()
}

func (c *Config) checkSize(l layout.Layout) error {
	if most := max(1, min(c.MaxRegisters, layout.MaxRegisters)); l.Words > most {
		return fmt.Errorf("takes %d registers, but one request reads at most %d; write a shorter string or a larger max_registers", l.Words, most)
	}
	return nil
}

// parseBool accepts true/false and the other words used in registries.
func parseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "", "false", "f", "no", "n", "0":
		return false, nil
	case "true", "t", "yes", "y", "1":
		return true, nil
	}
	return false, fmt.Errorf("%q is not known; write true or false", s)
}

// parseTable parses the table's name. Without one, writable bits and registers are coils and holding
// registers, the others discrete inputs and input registers.
func parseTable(name string, l layout.Layout, writable bool) (table, error) {
	switch strings.ToLower(strings.ReplaceAll(name, " ", "_")) {
	case "coil", "coils", "discrete_output_coils":
		return coil, nil
	case "discrete", "discrete_input", "discrete_inputs", "discrete_input_contacts":
		return discrete, nil
	case "input", "input_register", "input_registers", "analog_input_registers":
		return input, nil
	case "holding", "holding_register", "holding_registers", "analog_output_holding_registers":
		return holding, nil
	case "":
		return defaultTable(l.Form == layout.Bool && !l.IsField(), writable), nil
	}
	return holding, fmt.Errorf("%q is not known; write coil, discrete, input or holding", name)
}

func defaultTable(bit, writable bool) table {
	switch {
	case bit && writable:
		return coil
	case bit:
		return discrete
	case writable:
		return holding
	}
	return input
}

func checkWritable(t table, writable bool) error {
	if writable && (t == discrete || t == input) {
		return fmt.Errorf("cannot be true in the table %s; write false, or the table coil or holding", t)
	}
	return nil
}

func checkTable(t table, l layout.Layout) error {
	if t.bits() && (l.Form != layout.Bool || l.IsField()) {
		return fmt.Errorf("%s holds single bits; write the type bool without bit, or the table input or holding", t)
	}
	return nil
}

// parseAddress converts the registry's address to the one on the wire.
func parseAddress(s, addressing string, t table, l layout.Layout) (uint16, error) {
	if s == "" {
		return 0, errors.New("is missing; write the register's number")
	}
	n, err := strconv.ParseInt(s, 0, 32)
	if strings.HasPrefix(s, "0") && !strings.HasPrefix(strings.ToLower(s), "0x") {
		n, err = strconv.ParseInt(s, 10, 32) // 0100 is a hundred
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a number; write one such as 40 or 0x28", s)
	}
	first := 0
	switch strings.ToLower(addressing) {
	case "offset_plus":
		first = 1
	case "address":
		first = t.base()
		if n >= int64(first-1)*10+1 && first > 1 {
			first = (first-1)*10 + 1 // six digits: 400001
		}
	}
	last := int64(first) + math.MaxUint16
	if n < int64(first) || n+int64(l.Words)-1 > last {
		return 0, fmt.Errorf("%s is out of range for the table %s; write a number from %d to %d", s, t, first, last-int64(l.Words)+1)
	}
	return uint16(n - int64(first)), nil
}
