package mqtt

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/api/answer"
	"voltbus/broker/application"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/point"
)

// Applications knows the programs outside that may command. See application.Gate.
type Applications interface {
	States() []application.State
}

// ListApplications is the operation on the programs outside.
var ListApplications = operation.Declare[operation.None, AllApplications](operation.Spec{
	Name: "mqtt.applications", ID: "listMQTTApplications", HTTP: "GET /mqtt/applications", Role: identity.Viewer, Remote: true,
	Summary: "List the programs outside that may command a few points, with what they did", Result: "As configured",
})

func (p *Part) applications(context.Context, *operation.Call, *operation.None) (AllApplications, error) {
	out := AllApplications{Applications: []ApplicationState{}}
	if p.Applications == nil {
		return out, nil
	}
	connected := map[string]int{}
	for after, more := "", true; more; {
		list, rest := p.Broker.Clients(after, pageSize)
		for i := range list {
			if after = list[i].Device + " " + list[i].ID; list[i].Address != "" {
				connected[list[i].Device]++
			}
		}
		more = rest
	}
	for _, s := range p.Applications.States() {
		a := ApplicationState{
			Name: s.Name, Connected: connected[s.Name], Status: append([]string{}, s.Status...), Published: s.Published, Accepted: s.Accepted, Refused: s.Refused,
			Failed: s.Failed, Commands: make([]ApplicationCommand, len(s.Orders)), Events: make([]ApplicationEvent, len(s.Events)),
		}
		for i := range s.Orders {
			a.Commands[i] = orderOf(&s.Orders[i])
		}
		for i := range s.Events {
			a.Events[i] = ApplicationEvent(s.Events[i])
		}
		out.Applications = append(out.Applications, a)
	}
	return out, nil
}

func orderOf(o *application.OrderState) ApplicationCommand {
	return ApplicationCommand{
		Name: o.Name, Node: o.Node, Point: o.Point, Level: o.Level, Min: *o.Min, Max: *o.Max, Step: o.Step, Every: o.Every.Seconds(), Lease: o.Lease.Seconds(),
		Accepted: o.Accepted, Refused: o.Refused, Failed: o.Failed, Last: (*ApplicationEvent)(o.Last),
	}
}

// Carrier carries out what applications ask for by the operations of control, each with the right to its one point alone.
type Carrier struct {
	// Table returns the operations of the node; nil before there are any.
	Table func() *operation.Table
}

var errEarly = errors.New("the node is starting; ask again")

// run carries out an operation at the node of an order.
func (c Carrier) run(ctx context.Context, o *application.Order, name string, in, out any) error {
	table := c.Table()
	if table == nil {
		return fault.E("mqtt.Carry", fault.Unavailable, o.Application, errEarly)
	}
	text, err := json.Marshal(in)
	var args operation.Arguments
	if err == nil {
		err = json.Unmarshal(text, &args)
	}
	if err != nil {
		return fault.E("mqtt.Carry", fault.Internal, name, err)
	}
	who := &operation.Caller{
		Name: identity.Principal{Kind: identity.ApplicationKind, Name: o.Application}.String(), Agent: o.Application,
		Grants: identity.Grants{Command: []identity.CommandGrant{{Path: point.Pattern(o.Point), Level: o.Level}}},
	}
	var result json.RawMessage
	if o.Node == "" {
		result, err = table.Run(ctx, who, name, args)
	} else {
		result, err = table.RunElsewhere(ctx, who, o.Node, name, args)
	}
	if err == nil {
		err = json.Unmarshal(result, out)
	}
	return err
}

// Set implements application.Carrier.
func (c Carrier) Set(ctx context.Context, o *application.Order) (out application.Outcome, err error) {
	value, err := json.Marshal(o.Value)
	if err != nil {
		return out, fault.E("mqtt.Carry", fault.Invalid, "value", err)
	}
	var done answer.Commanded
	err = c.run(ctx, o, control.Set.Name, answer.NewCommand{
		ID: o.ID, Point: string(o.Point), Value: value, Level: o.Level, Lease: o.Lease.Seconds(), Reason: "asked for by the application " + o.Application,
	}, &done)
	if err != nil {
		return out, err
	}
	out = application.Outcome{Status: done.Status, Output: done.Output, Reported: done.Reported, Until: done.Until}
	if done.Error != nil {
		out.Why = done.Error.Message
	}
	return out, nil
}

// Release implements application.Carrier.
func (c Carrier) Release(ctx context.Context, o *application.Order) error {
	var done answer.Decided
	return c.run(ctx, o, control.Release.Name, answer.CommandSelection{Point: string(o.Point)}, &done)
}

var errNumber = errors.New("has no number as its value now")

// Present implements application.Carrier.
func (c Carrier) Present(ctx context.Context, o *application.Order) (float64, error) {
	var now answer.Readings
	if err := c.run(ctx, o, control.Get.Name, control.Points{Points: []string{string(o.Point)}}, &now); err != nil {
		return 0, err
	}
	var n float64
	if len(now.Readings) != 1 || json.Unmarshal(now.Readings[0].Value, &n) != nil {
		return 0, fault.E("mqtt.Carry", fault.Unavailable, string(o.Point), errNumber)
	}
	return n, nil
}
