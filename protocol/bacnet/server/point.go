package server

import (
	"context"
	"math"
	"slices"
	"sync"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// PointConfig describes a point.
type PointConfig struct {
	ID               encoding.ObjectID // of a type with a present value
	Name             string
	Description      string
	Units            enum.Unit      // shown for analog types
	States           []string       // texts of a multi-state type, from state 1 on
	Inactive, Active string         // texts of a binary type; not shown if both are empty
	Min, Max         encoding.Value // limits of the present value of an analog type; null: none
	Value            encoding.Value // at first; for a commandable point the relinquish default
	Increment        float32        // change that is notified, of analog types; 0: every change
	Commandable      bool
	// Command carries out what is written to the present value of a commandable point: null relinquishes. It may wait until ctx
	// ends. The point then keeps no commands of its own: Update and SetCommands say what came of it. With nil the point keeps them, and
	// the most urgent one is its value.
	Command func(ctx context.Context, c Command) error
	// Commanded is told, if there is no Command, of the value that a write brought about and its priority, 0 when all are relinquished.
	// An error, such as a service.Error, refuses the write. It must not block or use the point; nil accepts all.
	Commanded func(v encoding.Value, priority int) error
}

// Command is what somebody wrote to a present value.
type Command struct {
	Value    encoding.Value // null: relinquish
	Priority uint8          // 1–16
	From     ip.Address
}

// State is what a point shows.
type State struct {
	Value       encoding.Value
	Flags       constructed.StatusFlags
	Reliability enum.Reliability
}

// Point is an object with a present value.
type Point struct {
	config     PointConfig
	properties []enum.Property

	mu       sync.Mutex
	state    State
	flags    encoding.Value // the flags as a value
	commands constructed.PriorityArray
	fallback encoding.Value // relinquish default
	changed  func(Watched)  // nil until it belongs to a device
}

// NewPoint makes a point.
func NewPoint(c PointConfig) *Point {
	p := &Point{config: c, state: State{Value: c.Value}, fallback: c.Value}
	p.flags = encoding.BitStringValue(p.state.Flags.Bits())
	p.properties = p.list()
	return p
}

// ID identifies the point.
func (p *Point) ID() encoding.ObjectID { return p.config.ID }

// Name returns the name of the point.
func (p *Point) Name() string { return p.config.Name }

// Value returns the present value.
func (p *Point) Value() encoding.Value { return p.State().Value }

// State returns what the point shows.
func (p *Point) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Flags returns the status flags.
func (p *Point) Flags() constructed.StatusFlags { return p.State().Flags }

// Set changes the present value of a point that keeps no commands, and the flags of any. Those who subscribed are told.
func (p *Point) Set(v encoding.Value, flags constructed.StatusFlags) {
	s := State{Value: v, Flags: flags}
	if flags.Fault {
		s.Reliability = enum.UnreliableOther
	}
	p.Update(s)
}

// Update is Set with a reason for a fault.
func (p *Point) Update(s State) {
	p.mu.Lock()
	if p.config.Commandable && p.config.Command == nil {
		s.Value = p.state.Value
	}
	if s.Flags != p.state.Flags {
		p.flags = encoding.BitStringValue(s.Flags.Bits())
	}
	p.state = s
	p.mu.Unlock()
	p.notify()
}

// SetCommands sets the priority array and the relinquish default that a point with a Command shows. Those who subscribed are told.
func (p *Point) SetCommands(a constructed.PriorityArray, fallback encoding.Value) {
	p.mu.Lock()
	p.commands, p.fallback = a, fallback
	p.mu.Unlock()
	p.notify()
}

// Commands returns the priority array.
func (p *Point) Commands() constructed.PriorityArray {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commands
}

func (p *Point) attach(changed func(Watched)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = changed
}

func (p *Point) notify() {
	p.mu.Lock()
	changed := p.changed
	p.mu.Unlock()
	if changed != nil {
		changed(p)
	}
}

func (p *Point) analog() bool {
	switch p.config.ID.Type {
	case enum.AnalogInput, enum.AnalogOutput, enum.AnalogValue:
		return true
	default:
		return false
	}
}

// Properties lists the properties of the point.
func (p *Point) Properties() []enum.Property { return p.properties }

func (p *Point) list() []enum.Property {
	c := &p.config
	all := []enum.Property{
		enum.PropertyPresentValue, enum.PropertyDescription, enum.PropertyStatusFlags, enum.PropertyEventState,
		enum.PropertyReliability, enum.PropertyOutOfService,
	}
	add := func(is bool, more ...enum.Property) {
		if is {
			all = append(all, more...)
		}
	}
	add(p.analog(), enum.PropertyUnits, enum.PropertyCOVIncrement)
	add(p.analog() && c.Min.Kind() != encoding.KindNull, enum.PropertyMinPresValue)
	add(p.analog() && c.Max.Kind() != encoding.KindNull, enum.PropertyMaxPresValue)
	add(c.ID.Type == enum.BinaryInput || c.ID.Type == enum.BinaryOutput, enum.PropertyPolarity)
	add(c.Inactive != "" || c.Active != "", enum.PropertyInactiveText, enum.PropertyActiveText)
	add(c.States != nil, enum.PropertyNumberOfStates, enum.PropertyStateText)
	add(c.Commandable, enum.PropertyPriorityArray, enum.PropertyRelinquishDefault, enum.PropertyCurrentCommandPriority)
	return all
}

// Read returns a property.
func (p *Point) Read(property enum.Property) (Value, error) {
	if !slices.Contains(p.properties, property) {
		return Value{}, propertyError(enum.CodeUnknownProperty)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch property {
	case enum.PropertyPresentValue:
		return Single(p.state.Value), nil
	case enum.PropertyStatusFlags:
		return Single(p.flags), nil
	case enum.PropertyEventState:
		return Single(encoding.Enumerated(enum.EventNormal)), nil
	case enum.PropertyReliability:
		return Single(encoding.Enumerated(p.state.Reliability)), nil
	case enum.PropertyOutOfService:
		return Single(encoding.Boolean(p.state.Flags.OutOfService)), nil
	case enum.PropertyPriorityArray:
		return List(p.commands[:]...), nil
	case enum.PropertyRelinquishDefault:
		return Single(p.fallback), nil
	case enum.PropertyCurrentCommandPriority:
		_, at := p.commands.Active()
		if at == 0 {
			return Single(encoding.Null()), nil
		}
		return Single(encoding.Unsigned(uint64(at))), nil
	default:
		return p.described(property), nil
	}
}

// described returns a property that does not change.
func (p *Point) described(property enum.Property) Value {
	c := &p.config
	switch property {
	case enum.PropertyDescription:
		return Single(encoding.Text(c.Description))
	case enum.PropertyUnits:
		return Single(encoding.Enumerated(c.Units))
	case enum.PropertyCOVIncrement:
		return Single(encoding.Real(c.Increment))
	case enum.PropertyMinPresValue:
		return Single(c.Min)
	case enum.PropertyMaxPresValue:
		return Single(c.Max)
	case enum.PropertyInactiveText:
		return Single(encoding.Text(c.Inactive))
	case enum.PropertyActiveText:
		return Single(encoding.Text(c.Active))
	case enum.PropertyNumberOfStates:
		return Single(encoding.Unsigned(uint64(len(c.States))))
	case enum.PropertyStateText:
		texts := make([]encoding.Value, 0, len(c.States))
		for _, text := range c.States {
			texts = append(texts, encoding.Text(text))
		}
		return List(texts...)
	default:
		return Single(encoding.Enumerated(uint8(0))) // polarity: normal
	}
}

// Write commands the present value; other properties are read only.
func (p *Point) Write(ctx context.Context, w Write) error {
	switch {
	case !slices.Contains(p.properties, w.Property):
		return propertyError(enum.CodeUnknownProperty)
	case w.Property != enum.PropertyPresentValue || !p.config.Commandable:
		return propertyError(enum.CodeWriteAccessDenied)
	case w.Index != constructed.Index{}:
		return propertyError(enum.CodePropertyIsNotAnArray)
	}
	v, err := w.Value.One()
	if err != nil {
		return propertyError(enum.CodeInvalidDataType)
	}
	if err := p.check(v); err != nil {
		return err
	}
	c := Command{Value: v, Priority: w.Priority, From: w.From}
	if c.Priority == 0 {
		c.Priority = constructed.Priorities
	}
	if p.config.Command != nil {
		return p.config.Command(ctx, c)
	}
	if err := p.command(c); err != nil {
		return err
	}
	p.notify()
	return nil
}

// check reports whether the object can have a value.
func (p *Point) check(v encoding.Value) error {
	c := &p.config
	if v.Kind() == encoding.KindNull {
		return nil
	}
	if v.Kind() != c.Value.Kind() {
		return propertyError(enum.CodeInvalidDataType)
	}
	number, _ := v.Float()
	low, limited := c.Min.Float()
	high, bounded := c.Max.Float()
	switch {
	case v.Kind() == encoding.KindCharacterString:
		return nil
	case math.IsNaN(number) || math.IsInf(number, 0),
		v.Kind() == encoding.KindEnumerated && number > 1,
		c.States != nil && (number < 1 || number > float64(len(c.States))),
		limited && number < low, bounded && number > high:
		return propertyError(enum.CodeValueOutOfRange)
	}
	return nil
}

// command puts a command into the point's own array.
func (p *Point) command(c Command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	commands := p.commands
	commands[c.Priority-1] = c.Value
	active, at := commands.Active()
	if at == 0 {
		active = p.fallback
	}
	if p.config.Commanded != nil {
		if err := p.config.Commanded(active, at); err != nil {
			return err
		}
	}
	p.commands, p.state.Value = commands, active
	return nil
}

// Reported returns present value and status flags.
func (p *Point) Reported() []service.PropertyWrite {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []service.PropertyWrite{
		{Property: enum.PropertyPresentValue, Value: encoding.Encode(p.state.Value)},
		{Property: enum.PropertyStatusFlags, Value: encoding.Encode(p.flags)},
	}
}

// Differs reports whether the flags differ, or the value by the increment (clause 13.1.4).
func (p *Point) Differs(told, now []service.PropertyWrite) bool {
	if len(told) != len(now) || string(told[1].Value) != string(now[1].Value) {
		return true
	}
	if same := string(told[0].Value) == string(now[0].Value); same || !p.analog() || p.config.Increment <= 0 {
		return !same
	}
	return moved(told[0].Value, now[0].Value, float64(p.config.Increment))
}

// moved reports whether a number differs by an increment, or what is no number at all.
func moved(told, now encoding.Any, increment float64) bool {
	a, errA := told.One()
	b, errB := now.One()
	from, numberA := a.Float()
	to, numberB := b.Float()
	if errA != nil || errB != nil || !numberA || !numberB {
		return string(told) != string(now)
	}
	less := max(to-from, from-to) < increment // false for what is no number
	return !less && string(told) != string(now)
}
