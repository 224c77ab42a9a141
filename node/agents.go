package node

import (
	"context"

	"voltbus/api/answer"
	"voltbus/bus"
	"voltbus/identity"
)

// agents implements api.Agents.
type agents struct{ node *Node }

// Agents implements api.Agents.
func (a agents) Agents(context.Context) ([]answer.Agent, error) {
	online := map[string]bus.Presence{}
	for _, p := range a.node.bus.Online() {
		online[p.Name] = p
	}
	list := a.node.agents.List()
	out := make([]answer.Agent, len(list))
	for i := range list {
		out[i] = shown(&list[i], online[list[i].Name])
	}
	return out, nil
}

// Agent implements api.Agents.
func (a agents) Agent(_ context.Context, name string) (answer.Agent, error) {
	return a.show(a.node.agents.Agent(name))
}

// AddAgent implements api.Agents.
func (a agents) AddAgent(ctx context.Context, name, public string, g identity.Grants) (answer.Agent, error) {
	return a.show(a.node.agents.Add(ctx, name, public, g))
}

// Regrant implements api.Agents.
func (a agents) Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (answer.Agent, error) {
	return a.show(a.node.agents.Regrant(ctx, name, change))
}

// RevokeAgent implements api.Agents.
func (a agents) RevokeAgent(ctx context.Context, name string) (answer.Agent, error) {
	return a.show(a.node.agents.Revoke(ctx, name))
}

// RemoveAgent implements api.Agents.
func (a agents) RemoveAgent(ctx context.Context, name string) error {
	return a.node.agents.Remove(ctx, name)
}

func (a agents) show(agent identity.Agent, err error) (answer.Agent, error) {
	if err != nil {
		return answer.Agent{}, err
	}
	for _, p := range a.node.bus.Online() {
		if p.Name == agent.Name {
			return shown(&agent, p), nil
		}
	}
	return shown(&agent, bus.Presence{}), nil
}

// shown returns an agent as the API shows it; the zero Presence is one that is not connected.
func shown(a *identity.Agent, p bus.Presence) answer.Agent {
	out := answer.Agent{
		Name: a.Name, Public: a.Public, Grants: a.Grants, Created: a.Created.UTC(), Revoked: moment(a.Revoked.UTC()),
	}
	if p.Name != "" {
		out.Online = &answer.AgentOnline{Since: p.Since.UTC(), Address: p.Address, In: answer.Traffic(p.In), Out: answer.Traffic(p.Out)}
	}
	return out
}
