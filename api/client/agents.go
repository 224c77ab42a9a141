package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"voltbus/api/answer"
	"voltbus/identity"
)

// AgentList returns the agents by name.
func (c *Client) AgentList(ctx context.Context) (a answer.Agents, err error) {
	return a, c.get(ctx, "agents", nil, &a)
}

// Agent returns an agent.
func (c *Client) Agent(ctx context.Context, name string) (a answer.Agent, err error) {
	return a, c.get(ctx, "agents/"+url.PathEscape(name), nil, &a)
}

// AddAgent registers an agent by the public half of its key.
func (c *Client) AddAgent(ctx context.Context, name, public string, g identity.Grants) (a answer.Agent, err error) {
	body := struct {
		Name   string          `json:"name"`
		Public string          `json:"public"`
		Grants identity.Grants `json:"grants"`
	}{name, public, g}
	return a, c.change(ctx, http.MethodPost, "agents", body, &a)
}

// SetGrants replaces what an agent may do.
func (c *Client) SetGrants(ctx context.Context, name string, g identity.Grants) (now identity.Grants, err error) {
	return now, c.change(ctx, http.MethodPut, "agents/"+url.PathEscape(name)+"/grants", g, &now)
}

// ChangeGrants withdraws some of what an agent may do, and adds more.
func (c *Client) ChangeGrants(ctx context.Context, name string, grant, withdraw identity.Grants) (now identity.Grants, err error) {
	body := struct {
		Grant    identity.Grants `json:"grant"`
		Withdraw identity.Grants `json:"withdraw"`
	}{grant, withdraw}
	return now, c.change(ctx, http.MethodPatch, "agents/"+url.PathEscape(name)+"/grants", body, &now)
}

// RevokeAgent shuts an agent out.
func (c *Client) RevokeAgent(ctx context.Context, name string) (a answer.Agent, err error) {
	return a, c.change(ctx, http.MethodPost, "agents/"+url.PathEscape(name)+"/revoke", nil, &a)
}

// RemoveAgent forgets an agent.
func (c *Client) RemoveAgent(ctx context.Context, name string) error {
	resp, err := c.call(ctx, http.MethodDelete, "agents/"+url.PathEscape(name), nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// change sends a request with a body, and decodes its answer.
func (c *Client) change(ctx context.Context, method, path string, body, into any) error {
	resp, err := c.call(ctx, method, path, nil, body)
	if err != nil {
		return err
	}
	return errors.Join(decode(resp.Body, into), resp.Body.Close())
}
