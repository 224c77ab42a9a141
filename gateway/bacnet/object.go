package bacnet

import (
	"context"
	"fmt"

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
	shown  Object
}

// build makes the object of a point.
func (g *Gateway) build(p *choice) (*object, error) {
	of, err := g.kind(p)
	if err != nil {
		return nil, err
	}
	id, err := g.identify(p, of.object, p.Instance)
	if err != nil {
		return nil, fault.E("gateway.New", fault.Unavailable, p.Point.Point, err)
	}
	o := &object{
		path: point.Path(p.Point.Point), writes: g.writable(p) && !of.input,
		converter: converter{family: of.family, states: p.States, first: 1},
	}
	if p.known != nil {
		o.kind, _ = point.ParseKind(p.known.Kind)
	}
	if p.First != nil {
		o.first = int64(*p.First)
	}
	c := server.PointConfig{
		ID: id, Name: p.name(), Description: p.Description, Units: unitOf(&p.Point, p.known), Value: o.initial(),
		Increment: float32(p.Increment), Min: limit(p.Min), Max: limit(p.Max), Commandable: of.output || o.writes,
	}
	if p.known != nil && c.Description == "" {
		c.Description = p.known.Description
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
	o.shown = Object{
		ID: id, Point: o.path, Name: c.Name, Description: c.Description, Units: c.Units, Analog: of.family == analog, Commandable: o.writes, Missing: p.known == nil,
	}
	return o, g.addLog(p, o)
}

// addLog makes the trend log of a point that has one.
func (g *Gateway) addLog(p *choice, o *object) error {
	if p.TrendLog == nil && (!p.logs || o.family == text) {
		return nil
	}
	if o.family == text {
		return fault.E("gateway.New", fault.Invalid, p.Point.Point, errTextLog)
	}
	id, err := g.identify(p, enum.TrendLog, p.TrendLog)
	if err != nil {
		return fault.E("gateway.New", fault.Unavailable, p.Point.Point, err)
	}
	o.shown.TrendLog = &id
	o.log = &trendLog{
		id: id, name: p.name() + " log", of: o, node: g.node, interval: g.mapping.Trend.Interval, records: g.mapping.Trend.Records,
		device: encoding.ObjectID{Type: enum.Device, Instance: uint32(g.mapping.Device)},
	}
	return nil
}

// Object describes an object that is served.
type Object struct {
	ID          encoding.ObjectID
	Point       point.Path
	Name        string
	Description string
	Analog      bool
	Units       enum.Unit          // of an analog object
	Commandable bool               // clients may command it
	TrendLog    *encoding.ObjectID // nil: none
	Missing     bool               // the node does not have the point: the object is faulty until it has
}

// Objects returns the objects that are served: those that the mapping lists in its order, then those of the patterns.
func (g *Gateway) Objects() []Object {
	list := make([]Object, 0, len(g.objects))
	for _, o := range g.objects {
		list = append(list, o.shown)
	}
	return list
}

func limit(v *float64) encoding.Value {
	if v == nil {
		return encoding.Null()
	}
	return encoding.Real(float32(*v))
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
	default:
		if q.IsGood() {
			return server.State{}
		}
		return fault(enum.UnreliableOther)
	}
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
