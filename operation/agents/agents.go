// Package agents declares and carries out the operations on agents, which are programs with their own identity on the bus.
package agents

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation"
)

// Registry keeps the identities of agents, as registry.Agents does. Changes are in effect on open connections when a method returns.
type Registry interface {
	List() []registry.Agent
	Agent(name string) (registry.Agent, error)
	Add(ctx context.Context, name, public string, grants identity.Grants) (registry.Agent, error)
	// Regrant calls change to edit what an agent may do.
	Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (registry.Agent, error)
	Revoke(ctx context.Context, name string) (registry.Agent, error)
	Remove(ctx context.Context, name string) error
}

// The arguments.
type (
	// Agent names an agent.
	Agent struct {
		Name string `json:"name" api:"required,judged,query,max=64"`
	}
	// New is an agent whose key was generated elsewhere.
	New struct {
		Name   string          `json:"name" api:"required,judged,max=64" doc:"Letters, digits, and . _ - after the first"`
		Public string          `json:"public" api:"required,judged,min=56,max=56" doc:"An nkey, which begins with U"`
		Grants identity.Grants `json:"grants" api:"schema=Grants"`
	}
	// Grants are all that an agent may do.
	Grants struct {
		Agent
		identity.Grants
	}
	// Change changes what an agent may do.
	Change struct {
		Agent
		operation.Regranting
	}
)

// most is the maximum size of arguments in bytes.
const most = 1 << 20

// declare declares an operation about one agent.
func declare[In, Out any](s operation.Spec) operation.Operation[In, Out] {
	if s.Role == identity.Nobody {
		s.Role, s.Audited = identity.Administrator, true
	}
	return operation.Declare[In, Out](s)
}

// The operations.
var (
	Peers = operation.Declare[struct{}, answer.Peers](operation.Spec{
		Name: "agent.peers", ID: "listPeers", HTTP: "GET /peers", Role: identity.Viewer,
		Summary: "List the agents that may connect, and how they are", Result: "By name",
	})
	List = operation.Declare[struct{}, answer.Agents](operation.Spec{
		Name: "agent.identities", ID: "listAgents", HTTP: "GET /agents", Role: identity.Viewer,
		Summary: "List the agents, which are programs with an identity of their own on the bus", Result: "By name",
	})
	Get = declare[Agent, answer.Agent](operation.Spec{
		Name: "agent.identity", ID: "getAgent", HTTP: "GET /agents/{name}", Role: identity.Viewer,
		Summary: "Read how an agent is known", Result: "The agent",
	})
	Add = declare[New, answer.Agent](operation.Spec{
		Name: "agent.add", HTTP: "POST /agents", Body: most,
		Summary: "Register an agent by the public half of a key that was made elsewhere", Result: "The agent", Doc: "409 if the name or the key is taken.",
	})
	Remove = declare[Agent, operation.None](operation.Spec{
		Name: "agent.remove", HTTP: "DELETE /agents/{name}", Summary: "Forget an agent, whose connections end at once",
	})
	Revoke = declare[Agent, answer.Agent](operation.Spec{
		Owner: operation.AgentNamed, Name: "agent.revoke", HTTP: "POST /agents/{name}/revoke", Summary: "Shut an agent out at once", Result: "The agent",
		Doc: "Its name and key stay known and refused until it is removed.",
	})
	GetGrants = declare[Agent, identity.Grants](operation.Spec{
		Name: "grants.get", HTTP: "GET /agents/{name}/grants", Role: identity.Viewer, Summary: "Read what an agent may do", Result: "The grants",
	})
	SetGrants = declare[Grants, identity.Grants](operation.Spec{
		Owner: operation.AgentNamed, Name: "grants.set", HTTP: "PUT /agents/{name}/grants", Body: most, Takes: "Grants",
		Summary: "Replace what an agent may do, at once", Result: "The grants",
	})
	ChangeGrants = declare[Change, identity.Grants](operation.Spec{
		Owner: operation.AgentNamed, Name: "grants.change", HTTP: "PATCH /agents/{name}/grants", Action: "grants.set", Body: most,
		Summary: "Withdraw some of what an agent may do, and grant more, at once", Result: "The grants",
		Doc: "Commands, calls and named capabilities are withdrawn without regard to what restricts them; one that is granted anew takes the new " +
			"restrictions. 404 if something is withdrawn that is not granted.",
	})
)

// Part carries out the operations on agents.
type Part struct {
	Registry Registry // nil where no agents connect
	Peers    func() ([]answer.Peer, error)
	// Online returns the connections of agents by name.
	Online func() map[string]*answer.AgentOnline
	Calls  Calls
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(Peers, nil, p.peers), operation.Bind(List, nil, p.list), operation.Bind(Get, nil, p.get),
		operation.Bind(Add, nil, p.add), operation.Bind(Remove, nil, p.remove), operation.Bind(Revoke, nil, p.revoke),
		operation.Bind(GetGrants, nil, p.grants), operation.Bind(SetGrants, nil, p.setGrants), operation.Bind(ChangeGrants, nil, p.changeGrants),
		operation.Bind(Methods, nil, p.methods), operation.Bind(Call, p.mayCall, p.call),
	}
	if p.Registry == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) peers(context.Context, *operation.Call, *struct{}) (out answer.Peers, err error) {
	out.Peers, err = p.Peers()
	return out, err
}

func (p *Part) list(context.Context, *operation.Call, *struct{}) (answer.Agents, error) {
	list, online := p.Registry.List(), p.Online()
	out := answer.Agents{Agents: make([]answer.Agent, len(list))}
	for i := range list {
		out.Agents[i] = shown(&list[i], online)
	}
	return out, nil
}

func (p *Part) get(_ context.Context, _ *operation.Call, in *Agent) (answer.Agent, error) {
	return p.show(p.Registry.Agent(in.Name))
}

// add registers a key that was generated elsewhere.
func (p *Part) add(ctx context.Context, c *operation.Call, in *New) (answer.Agent, error) {
	c.Did(in.Name, in)
	return p.show(p.Registry.Add(ctx, in.Name, in.Public, in.Grants))
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Agent) (operation.None, error) {
	c.Did(in.Name, nil)
	return operation.None{}, p.Registry.Remove(ctx, in.Name)
}

func (p *Part) revoke(ctx context.Context, c *operation.Call, in *Agent) (answer.Agent, error) {
	c.Did(in.Name, nil)
	return p.show(p.Registry.Revoke(ctx, in.Name))
}

func (p *Part) grants(_ context.Context, _ *operation.Call, in *Agent) (identity.Grants, error) {
	a, err := p.Registry.Agent(in.Name)
	return a.Grants, err
}

func (p *Part) setGrants(ctx context.Context, c *operation.Call, in *Grants) (identity.Grants, error) {
	return p.regrant(ctx, c, in.Name, func(g *identity.Grants) error { *g = in.Grants; return nil })
}

func (p *Part) changeGrants(ctx context.Context, c *operation.Call, in *Change) (identity.Grants, error) {
	return p.regrant(ctx, c, in.Name, in.Regranting.Change)
}

func (p *Part) regrant(ctx context.Context, c *operation.Call, name string, change func(*identity.Grants) error) (identity.Grants, error) {
	a, err := p.Registry.Regrant(ctx, name, c.Regranted(name, change))
	return a.Grants, err
}

func (p *Part) show(a registry.Agent, err error) (answer.Agent, error) {
	if err != nil {
		return answer.Agent{}, err
	}
	return shown(&a, p.Online()), nil
}

func shown(a *registry.Agent, online map[string]*answer.AgentOnline) answer.Agent {
	out := answer.Agent{Name: a.Name, Public: a.Public, Grants: a.Grants, Created: a.Created.UTC(), Online: online[a.Name]}
	if !a.Revoked.IsZero() {
		revoked := a.Revoked.UTC()
		out.Revoked = &revoked
	}
	return out
}
