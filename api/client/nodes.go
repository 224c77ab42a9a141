package client

import (
	"context"
	"net/url"

	"voltbus/api/answer"
)

// Nodes returns this node and all below it.
func (c *Client) Nodes(ctx context.Context) (a answer.Nodes, err error) {
	return a, c.get(ctx, "nodes", nil, &a)
}

// Node returns this node, or one below it.
func (c *Client) Node(ctx context.Context, name string) (a answer.Node, err error) {
	return a, c.get(ctx, "nodes/"+url.PathEscape(name), nil, &a)
}
