package client

import (
	"context"
	"net/http"
	"net/url"

	"voltbus/api/answer"
)

// Peers returns the agents that may connect, by name, and how they are.
func (c *Client) Peers(ctx context.Context) (p answer.Peers, err error) {
	return p, c.get(ctx, "peers", nil, &p)
}

// Alerts returns the open alerts: the most severe first, of these the newest.
func (c *Client) Alerts(ctx context.Context) (a answer.Alerts, err error) {
	return a, c.get(ctx, "alerts", nil, &a)
}

// ClearAlert ends an alert that does not last. fault.NotFound: it is not open; fault.Conflict: its agent says that it
// lasts; fault.Timeout: the agent does not say.
func (c *Client) ClearAlert(ctx context.Context, agent, key string) error {
	resp, err := c.call(ctx, http.MethodPost, "alerts/"+url.PathEscape(agent)+"/"+url.PathEscape(key)+"/clear", nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
