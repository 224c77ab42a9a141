package sim

import (
	"context"
	"errors"
	"time"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Reasons why a write is refused.
var (
	errReadOnly = errors.New("is read-only; write a set point of the model")
	errNoPoint  = errors.New("the model has no such point; write one that it lists")
)

// model holds a device's equations.
type model struct {
	fields  []field
	advance func(t time.Time) // integrates up to t; nil for a model without memory
	close   func()            // leaves the line; nil for a stand-alone model
}

// field is one point of a model.
type field struct {
	name  string
	unit  string
	doc   string
	kind  point.Kind
	value func(t time.Time) point.Value
	set   *setting // nil for a read-only point
}

// setting is a set point.
type setting struct {
	value     float64
	low, high float64
}

// measured returns a field with a number.
func measured(name, unit, doc string, f func(t time.Time) float64) field {
	return field{
		name: name, unit: unit, doc: doc, kind: point.Float,
		value: func(t time.Time) point.Value { return point.FloatOf(f(t)) },
	}
}

// state returns a field that is on or off.
func state(name, doc string, f func(t time.Time) bool) field {
	return field{
		name: name, doc: doc, kind: point.Bool,
		value: func(t time.Time) point.Value { return point.BoolOf(f(t)) },
	}
}

// word returns a field with a text.
func word(name, doc string, f func(t time.Time) string) field {
	return field{
		name: name, doc: doc, kind: point.Text,
		value: func(t time.Time) point.Value { return point.TextOf(f(t)) },
	}
}

// setpoint returns a field that can be written within limits.
func setpoint(name, unit, doc string, s *setting) field {
	f := measured(name, unit, doc, func(time.Time) float64 { return s.value })
	f.set = s
	return f
}

// toggle returns a field that can be switched.
func toggle(name, doc string, s *setting) field {
	f := state(name, doc, s.on)
	f.set = s
	return f
}

func (s *setting) on(time.Time) bool { return s.value != 0 }

// session is a session with a simulated device.
type session struct {
	line   *line
	clock  clock
	model  *model
	byName map[string]*field
	closed bool
}

func newSession(l *line, c *Config) *session {
	s := &session{line: l, clock: c.clock(), model: newModel(l, c), byName: make(map[string]*field)}
	for i := range s.model.fields {
		f := &s.model.fields[i]
		s.byName[f.name] = f
	}
	return s
}

// newModel returns the model configured by c, on a line.
func newModel(l *line, c *Config) *model {
	switch c.Model {
	case "ahu":
		return newAHU(c)
	case "meter":
		return newMeter(c)
	case "weather":
		return newWeather(c)
	case "room":
		return newRoom(l, c)
	case "building":
		return newBuilding(l, c)
	}
	return newZone(c)
}

// Read implements driver.Session.
func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	if err := s.line.ready(ctx, "sim.Read"); err != nil {
		return nil, err
	}
	return s.at(time.Now(), names), nil
}

// at returns the samples at a moment.
func (s *session) at(t time.Time, names []string) []point.Sample {
	t = t.UTC().Truncate(time.Microsecond)
	now := s.clock.at(t)
	if s.model.advance != nil {
		s.model.advance(now)
	}
	samples := make([]point.Sample, len(names))
	for i, name := range names {
		samples[i] = point.Sample{Point: point.Path(name), Time: t, Quality: point.BadConfig}
		if f := s.byName[name]; f != nil {
			samples[i].Value, samples[i].Quality = f.value(now), point.Good
		}
	}
	return samples
}

// Write implements driver.Writer.
func (s *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "sim.Write"
	if err := s.line.ready(ctx, op); err != nil {
		return point.Value{}, err
	}
	f := s.byName[name]
	switch {
	case f == nil:
		return point.Value{}, fault.E(op, fault.NotFound, name, errNoPoint)
	case f.set == nil:
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	}
	if _, err := f.take(v); err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, err)
	}
	now := s.clock.at(time.Now())
	if s.model.advance != nil {
		s.model.advance(now) // the time before follows the old set point
	}
	f.set.value, _ = v.Number()
	return f.value(now), nil
}

// Close implements driver.Session.
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.line.open--
	if s.model.close != nil {
		s.model.close()
	}
	return nil
}

// ready reports why nothing can be read or written now.
func (l *line) ready(ctx context.Context, op string) error {
	if l.closed {
		return fault.E(op, fault.Unreachable, "", driver.ErrNotConnected)
	}
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	return nil
}
