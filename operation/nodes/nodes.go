// Package nodes declares and carries out the operations on a node and its descendants.
package nodes

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// Nodes are this node and its descendants.
type Nodes interface {
	Nodes(ctx context.Context) (answer.Nodes, error)
	// Node returns one of them by name, or fault.NotFound.
	Node(ctx context.Context, name string) (answer.Node, error)
}

// Bus reports the clients of this node's bus.
type Bus interface {
	Inspect(ctx context.Context) (answer.Bus, error)
}

// Name names a node.
type Name struct {
	Name string `json:"name" api:"required" doc:"The name of the node"`
}

// The operations.
var (
	List = operation.Declare[struct{}, answer.Nodes](operation.Spec{
		Name: "nodes.list", ID: "listNodes", HTTP: "GET /nodes", Role: identity.Viewer,
		Summary: "List this node and all below it, as they said last how they are", Result: "The nodes",
		Doc: "As a tree in a list: this node first, and each before those below it, with the name of its parent. Nodes report every ten seconds, and " +
			`pass on what those below them reported. Of a node that is away the last report is shown; "heard" says how old it is, "since" since when ` +
			"it is away. Who watches them reads /api/v1/events/nodes.",
	})
	Get = operation.Declare[Name, answer.Node](operation.Spec{
		Name: "nodes.get", ID: "getNode", HTTP: "GET /nodes/{name}", Role: identity.Viewer,
		Summary: "Read how this node is, or one below it", Result: "The node",
	})
	OnBus = operation.Declare[struct{}, answer.Bus](operation.Spec{
		Name: "bus.get", HTTP: "GET /bus", Role: identity.Engineer,
		Summary: "Read who is on the bus, and how much is sent", Result: "The bus",
	})
	Version = operation.Declare[struct{}, answer.Version](operation.Spec{
		Name: "node.version", ID: "getVersion", HTTP: "GET /version", Role: identity.Viewer,
		Summary: "Read which program answers", Result: "The version",
	})
)

// Part carries out the operations on nodes.
type Part struct {
	Nodes   Nodes          // nil if other nodes are unknown
	Bus     Bus            // nil if the bus is unknown
	Version answer.Version // of the program
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(List, nil, p.list), operation.Bind(Get, nil, p.get), operation.Bind(OnBus, nil, p.bus), operation.Bind(Version, nil, p.version)}
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.Nodes, error) {
	if p.Nodes == nil {
		return answer.Nodes{}, operation.NotHere("other nodes")
	}
	return p.Nodes.Nodes(ctx)
}

func (p *Part) get(ctx context.Context, _ *operation.Call, in *Name) (answer.Node, error) {
	if p.Nodes == nil {
		return answer.Node{}, operation.NotHere("other nodes")
	}
	return p.Nodes.Node(ctx, in.Name)
}

func (p *Part) bus(ctx context.Context, _ *operation.Call, _ *struct{}) (answer.Bus, error) {
	if p.Bus == nil {
		return answer.Bus{}, operation.NotHere("bus")
	}
	b, err := p.Bus.Inspect(ctx)
	b.Connections = append([]answer.BusConnection{}, b.Connections...) // a list even if empty
	for i := range b.Connections {
		b.Connections[i].Subscriptions = append([]string{}, b.Connections[i].Subscriptions...)
	}
	return b, err
}

func (p *Part) version(context.Context, *operation.Call, *struct{}) (answer.Version, error) {
	return p.Version, nil
}
