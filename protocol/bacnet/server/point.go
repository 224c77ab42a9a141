package server

import (
	"slices"
	"sync"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// PointConfig describes a point.
type PointConfig struct {
	ID          encoding.ObjectID // of a type with a present value
	Name        string
	Description string
	Units       enum.Unit      // shown for analog types
	States      []string       // texts of a multi-state type, from state 1 on
	Value       encoding.Value // at first; for a commandable point the relinquish default
	Increment   float32        // change that is notified, of analog types; 0: every change
	Commandable bool
	// Commanded is told of the value that a write brought about and its priority, 0 when all are
	// relinquished. An error, such as a service.Error, refuses the write. It must not block; nil
	// accepts all.
	Commanded func(v encoding.Value, priority int) error
}

// Point is an object with a present value.
type Point struct {
	config PointConfig

	mu       sync.Mutex
	value    encoding.Value
	flags    constructed.StatusFlags
	commands constructed.PriorityArray
	changed  func(Watched) // nil until it belongs to a device
}

// NewPoint makes a point.
func NewPoint(c PointConfig) *Point { return &Point{config: c, value: c.Value} }

// ID identifies the point.
func (p *Point) ID() encoding.ObjectID { return p.config.ID }

// Name returns the name of the point.
func (p *Point) Name() string { return p.config.Name }

// Value returns the present value.
func (p *Point) Value() encoding.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.value
}

// Set changes the present value of a point that is not commandable, and the flags of any. Those
// who subscribed are told.
func (p *Point) Set(v encoding.Value, flags constructed.StatusFlags) {
	p.mu.Lock()
	if !p.config.Commandable {
		p.value = v
	}
	p.flags = flags
	changed := p.changed
	p.mu.Unlock()
	if changed != nil {
		changed(p)
	}
}

// Flags returns the status flags.
func (p *Point) Flags() constructed.StatusFlags {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.flags
}

func (p *Point) attach(changed func(Watched)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed = changed
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
func (p *Point) Properties() []enum.Property {
	all := []enum.Property{
		enum.PropertyPresentValue, enum.PropertyDescription, enum.PropertyStatusFlags, enum.PropertyEventState,
		enum.PropertyOutOfService,
	}
	if p.analog() {
		all = append(all, enum.PropertyUnits, enum.PropertyCOVIncrement)
	}
	if p.config.States != nil {
		all = append(all, enum.PropertyNumberOfStates, enum.PropertyStateText)
	}
	if p.config.Commandable {
		all = append(all, enum.PropertyPriorityArray, enum.PropertyRelinquishDefault)
	}
	return all
}

// Read returns a property.
func (p *Point) Read(property enum.Property) (Value, error) {
	if !slices.Contains(p.Properties(), property) {
		return Value{}, propertyError(enum.CodeUnknownProperty)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch property {
	case enum.PropertyPresentValue:
		return Single(p.value), nil
	case enum.PropertyDescription:
		return Single(encoding.Text(p.config.Description)), nil
	case enum.PropertyStatusFlags:
		return Single(encoding.BitStringValue(p.flags.Bits())), nil
	case enum.PropertyEventState:
		return Single(encoding.Enumerated(enum.EventNormal)), nil
	case enum.PropertyOutOfService:
		return Single(encoding.Boolean(p.flags.OutOfService)), nil
	case enum.PropertyUnits:
		return Single(encoding.Enumerated(p.config.Units)), nil
	case enum.PropertyCOVIncrement:
		return Single(encoding.Real(p.config.Increment)), nil
	case enum.PropertyNumberOfStates:
		return Single(encoding.Unsigned(uint64(len(p.config.States)))), nil
	case enum.PropertyStateText:
		texts := make([]encoding.Value, 0, len(p.config.States))
		for _, text := range p.config.States {
			texts = append(texts, encoding.Text(text))
		}
		return List(texts...), nil
	case enum.PropertyPriorityArray:
		return List(p.commands[:]...), nil
	default:
		return Single(p.config.Value), nil // relinquish-default
	}
}

// Write commands the present value; other properties are read only.
func (p *Point) Write(w service.PropertyWrite) error {
	switch {
	case !slices.Contains(p.Properties(), w.Property):
		return propertyError(enum.CodeUnknownProperty)
	case w.Property != enum.PropertyPresentValue || !p.config.Commandable:
		return propertyError(enum.CodeWriteAccessDenied)
	case w.Index != constructed.Index{}:
		return propertyError(enum.CodePropertyIsNotAnArray)
	}
	v, err := w.Value.One()
	if err != nil || v.Kind() != encoding.KindNull && v.Kind() != p.config.Value.Kind() {
		return propertyError(enum.CodeInvalidDataType)
	}
	if err := p.command(v, w.Priority); err != nil {
		return err
	}
	p.mu.Lock()
	changed := p.changed
	p.mu.Unlock()
	if changed != nil {
		changed(p)
	}
	return nil
}

func (p *Point) command(v encoding.Value, priority uint8) error {
	if priority == 0 {
		priority = constructed.Priorities
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	commands := p.commands
	commands[priority-1] = v
	active, at := commands.Active()
	if at == 0 {
		active = p.config.Value
	}
	if p.config.Commanded != nil {
		if err := p.config.Commanded(active, at); err != nil {
			return err
		}
	}
	p.commands, p.value = commands, active
	return nil
}

// Reported returns present value and status flags.
func (p *Point) Reported() []service.PropertyWrite {
	p.mu.Lock()
	defer p.mu.Unlock()
	return []service.PropertyWrite{
		{Property: enum.PropertyPresentValue, Value: encoding.Encode(p.value)},
		{Property: enum.PropertyStatusFlags, Value: encoding.Encode(encoding.BitStringValue(p.flags.Bits()))},
	}
}

// Differs reports whether the flags differ, or the value by the increment (clause 13.1.4).
func (p *Point) Differs(told, now []service.PropertyWrite) bool {
	if len(told) != len(now) || string(told[1].Value) != string(now[1].Value) {
		return true
	}
	if !p.analog() || p.config.Increment <= 0 {
		return string(told[0].Value) != string(now[0].Value)
	}
	a, errA := told[0].Value.One()
	b, errB := now[0].Value.One()
	from, _ := a.Float()
	to, _ := b.Float()
	return errA != nil || errB != nil || max(to-from, from-to) >= float64(p.config.Increment)
}
