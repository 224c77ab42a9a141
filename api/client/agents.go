package client

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/agents"
)

// AgentList returns the agents by name.
func (c *Client) AgentList(ctx context.Context) (answer.Agents, error) {
	return Do(ctx, c, agents.List, struct{}{})
}

// Agent returns an agent.
func (c *Client) Agent(ctx context.Context, name string) (answer.Agent, error) {
	return Do(ctx, c, agents.Get, agents.Agent{Name: name})
}

// AddAgent registers an agent by the public half of its key.
func (c *Client) AddAgent(ctx context.Context, name, public string, g identity.Grants) (answer.Agent, error) {
	return Do(ctx, c, agents.Add, agents.New{Name: name, Public: public, Grants: g})
}

// SetGrants replaces what an agent may do.
func (c *Client) SetGrants(ctx context.Context, name string, g identity.Grants) (identity.Grants, error) {
	return Do(ctx, c, agents.SetGrants, agents.Grants{Agent: agents.Agent{Name: name}, Grants: g})
}

// ChangeGrants withdraws some of what an agent may do, and adds more.
func (c *Client) ChangeGrants(ctx context.Context, name string, grant, withdraw identity.Grants) (identity.Grants, error) {
	return Do(ctx, c, agents.ChangeGrants, agents.Change{Agent: agents.Agent{Name: name}, Regranting: operation.Regranting{Grant: grant, Withdraw: withdraw}})
}

// RevokeAgent shuts an agent out.
func (c *Client) RevokeAgent(ctx context.Context, name string) (answer.Agent, error) {
	return Do(ctx, c, agents.Revoke, agents.Agent{Name: name})
}

// RemoveAgent forgets an agent.
func (c *Client) RemoveAgent(ctx context.Context, name string) error {
	_, err := Do(ctx, c, agents.Remove, agents.Agent{Name: name})
	return err
}
