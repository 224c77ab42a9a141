// Package devices declares and carries out the operations on the devices of a node.
package devices

import (
	"cmp"
	"context"
	"slices"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// Devices lists the devices in path order.
type Devices interface {
	Devices(ctx context.Context) ([]answer.Device, error)
}

// Health reports the node's health. It must answer at once.
type Health interface {
	Health(ctx context.Context) answer.Health
}

// List lists the devices.
var List = operation.Declare[struct{}, answer.Devices](operation.Spec{
	Name: "devices.list", ID: "listDevices", HTTP: "GET /devices", Role: identity.Viewer,
	Summary: "List the devices and their states", Result: "All devices in path order",
})

// Part carries out the operations on devices.
type Part struct {
	Devices Devices // nil if there are none
	Health  Health  // nil without health checks
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(List, nil, p.list)}
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.Devices, error) {
	if p.Devices == nil {
		return answer.Devices{}, operation.NotHere("devices")
	}
	list, err := p.Devices.Devices(ctx)
	if err != nil {
		return answer.Devices{}, err
	}
	var all []answer.Concern
	if p.Health != nil {
		all = p.Health.Health(ctx).Concerns
	}
	for i := range list {
		d := &list[i]
		d.Concern = cmp.Or(said(all, "devices", d.Path), said(all, "devices", d.Line), said(all, "registers", d.Path))
	}
	if list == nil {
		list = []answer.Device{}
	}
	return answer.Devices{Devices: list}, nil
}

// said returns a part's finding about a subject; "" if it has none.
func said(all []answer.Concern, part, subject string) string {
	i := slices.IndexFunc(all, func(c answer.Concern) bool { return c.Part == part && c.Subject == subject })
	if i < 0 {
		return ""
	}
	return all[i].Sentence
}
