package client

import (
	"context"

	"voltbus/api/answer"
	"voltbus/operation/agents"
	"voltbus/operation/alerts"
)

// Peers returns the agents that may connect, by name, and how they are.
func (c *Client) Peers(ctx context.Context) (answer.Peers, error) {
	return Do(ctx, c, agents.Peers, struct{}{})
}

// Alerts returns the open alerts: the most severe first, of these the newest.
func (c *Client) Alerts(ctx context.Context) (answer.Alerts, error) {
	return Do(ctx, c, alerts.List, struct{}{})
}

// ClearAlert ends an alert that does not last. fault.NotFound: it is not open; fault.Conflict: its agent says that it
// lasts; fault.Timeout: the agent does not say.
func (c *Client) ClearAlert(ctx context.Context, agent, key string) error {
	_, err := Do(ctx, c, alerts.Clear, alerts.Alert{Agent: agent, Key: key})
	return err
}
