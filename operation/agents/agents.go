// Package agents declares what callers can ask about agents, which are programs with an identity of their own on the bus, and does it.
package agents

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// The operations.
var (
	Peers = operation.Declare[struct{}, answer.Peers](operation.Spec{
		Name: "agent.peers", ID: "listPeers", HTTP: "GET /peers", Role: identity.Viewer,
		Summary: "List the agents that may connect, and how they are", Result: "By name",
	})
)

// Part does what is asked about agents.
type Part struct {
	Peers func() ([]answer.Peer, error) // nil where no agents connect
}

// Operations lists what the part does.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(Peers, nil, p.peers)}
}

func (p *Part) peers(context.Context, *operation.Call, *struct{}) (out answer.Peers, err error) {
	if p.Peers == nil {
		return out, operation.NotHere("agents")
	}
	out.Peers, err = p.Peers()
	return out, err
}
