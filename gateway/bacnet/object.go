package bacnet

import (
	"context"
	"fmt"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/server"
)

// object is a point of the node as an object.
type object struct {
	converter

	path   point.Path
	point  *server.Point
	log    *trendLog // nil: none
	writes bool      // it may be commanded
}

// build makes the object of a point; known is nil if the node does not have the point.
func (g *Gateway) build(p *Point, known *answer.Point) (*object, error) {
	kind := point.None
	if known != nil {
		kind, _ = point.ParseKind(known.Kind)
	} else if p.Type == "" {
		return nil, fault.E("gateway.New", fault.NotFound, p.Point, errUnknownType)
	}
	writable := len(g.mapping.Writers) > 0 && !p.ReadOnly && (known == nil || known.Writable)
	of := kindOf(p, kind, writable)
	o := &object{
		path: point.Path(p.Point), writes: writable && !of.input,
		converter: converter{family: of.family, kind: kind, states: p.States, first: 1},
	}
	if p.First != nil {
		o.first = int64(*p.First)
	}
	c := server.PointConfig{
		ID: encoding.ObjectID{Type: of.object, Instance: uint32(p.Instance)}, Name: p.name(), Description: p.Description,
		Units: unitOf(p, known), Value: o.initial(), Increment: float32(p.Increment), Min: limit(p.Min), Max: limit(p.Max),
		Commandable: of.output || o.writes,
	}
	if known != nil && c.Description == "" {
		c.Description = known.Description
	}
	if of.family == multiState {
		c.States = p.States
	}
	if of.family == binary && len(p.States) == 2 {
		c.Inactive, c.Active = p.States[0], p.States[1]
	}
	if c.Commandable {
		c.Command = func(ctx context.Context, command server.Command) error { return g.commands.carryOut(ctx, o, command) }
	}
	o.point = server.NewPoint(c)
	o.point.Update(server.State{Value: c.Value, Flags: constructed.StatusFlags{Fault: true}, Reliability: enum.CommunicationFailure})
	return o, g.addLog(p, o)
}

// addLog makes the trend log of a point that has one.
func (g *Gateway) addLog(p *Point, o *object) error {
	if p.TrendLog == nil {
		return nil
	}
	if o.family == text {
		return fault.E("gateway.New", fault.Invalid, p.Point, errTextLog)
	}
	o.log = &trendLog{
		id: encoding.ObjectID{Type: enum.TrendLog, Instance: uint32(*p.TrendLog)}, name: p.name() + " log", of: o, node: g.node,
		interval: g.mapping.Trend.Interval, records: g.mapping.Trend.Records, device: encoding.ObjectID{Type: enum.Device, Instance: uint32(g.mapping.Device)},
	}
	return nil
}

func limit(v *float64) encoding.Value {
	if v == nil {
		return encoding.Null()
	}
	return encoding.Real(float32(*v))
}

// ownUnitTable are units that a node writes in another way than the standard's table.
var ownUnitTable = map[string]enum.Unit{
	"degC": enum.UnitDegreesCelsius, "degF": enum.UnitDegreesFahrenheit, "": enum.UnitNoUnits, "1": enum.UnitNoUnits,
}

// unitOf returns the unit of an object: what the standard does not know has none.
func unitOf(p *Point, known *answer.Point) enum.Unit {
	name := p.Unit
	if name == "" && known != nil {
		name = known.Unit
	}
	if u, own := ownUnitTable[name]; own {
		return u
	}
	if u, is := enum.ParseUnit(name); is {
		return u
	}
	return enum.UnitNoUnits
}

// show passes samples to the objects.
func (g *Gateway) show(samples []point.Sample) {
	for i := range samples {
		for _, o := range g.byPath[samples[i].Point] {
			o.show(&samples[i])
		}
	}
	g.nodeAnswers(true)
}

// show shows a sample. An object keeps its last value while there is none.
func (o *object) show(s *point.Sample) {
	state := stateOf(s.Quality)
	v, ok := o.toObject(s.Value)
	switch {
	case s.Quality.IsBad():
		v = o.point.Value()
	case !ok:
		v, state = o.point.Value(), server.State{Flags: constructed.StatusFlags{Fault: true}, Reliability: enum.UnreliableOther}
		if o.family == multiState {
			state.Reliability = enum.MultiStateOutOfRange
		}
	}
	state.Value = v
	o.point.Update(state)
}

// stateOf returns the flags and the reliability that tell of a quality.
func stateOf(q point.Quality) server.State {
	fault := func(r enum.Reliability) server.State {
		return server.State{Flags: constructed.StatusFlags{Fault: true}, Reliability: r}
	}
	switch q {
	case point.Override:
		return server.State{Flags: constructed.StatusFlags{Overridden: true}}
	case point.Substituted, point.Edited: // the value is not what was measured (clause 12.2.10)
		return server.State{Flags: constructed.StatusFlags{OutOfService: true}}
	case point.UncertainRange:
		return fault(enum.OverRange)
	case point.BadSensor:
		return fault(enum.NoSensor)
	case point.BadConfig:
		return fault(enum.ConfigurationError)
	case point.BadUnreachable, point.BadTimeout, point.BadStale:
		return fault(enum.CommunicationFailure)
	}
	if q.IsGood() {
		return server.State{}
	}
	return fault(enum.UnreliableOther)
}

// lost marks all objects as lost: the node does not answer.
func (g *Gateway) lost() {
	g.nodeAnswers(false)
	for _, o := range g.objects {
		s := o.point.State()
		s.Flags.Fault, s.Reliability = true, enum.CommunicationFailure
		o.point.Update(s)
	}
}

// add adds an object and its log to the device.
func (o *object) add(d *server.Device) error {
	if err := d.Add(o.point); err != nil {
		return fmt.Errorf("point %s: %w; give each object its own type and instance, and name", o.path, err)
	}
	if o.log == nil {
		return nil
	}
	if err := d.Add(o.log); err != nil {
		return fmt.Errorf("trend log of %s: %w", o.path, err)
	}
	return nil
}
