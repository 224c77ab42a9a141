package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"voltbus/api/answer"
)

// Methods returns what an agent answers that is connected.
func (c *Client) Methods(ctx context.Context, agent string) (m answer.Methods, err error) {
	return m, c.get(ctx, agentPath(agent, "methods"), nil, &m)
}

// Call is a call of a method of an agent, in the name of the node.
type Call struct {
	Method string
	Args   []json.RawMessage          // by place
	Kwargs map[string]json.RawMessage // by name
	// Timeout is how long the agent may take, 0 for the node's 30 s.
	Timeout time.Duration
}

// CallNode calls a method of an agent of another node, "node" for that node itself, through the tree.
func (c *Client) CallNode(ctx context.Context, node, agent string, call Call) (json.RawMessage, error) {
	body := struct {
		Agent   string                     `json:"agent"`
		Method  string                     `json:"method"`
		Args    []json.RawMessage          `json:"args,omitempty"`
		Kwargs  map[string]json.RawMessage `json:"kwargs,omitempty"`
		Timeout float64                    `json:"timeout,omitempty"`
	}{agent, call.Method, call.Args, call.Kwargs, call.Timeout.Seconds()}
	var result answer.CallResult
	err := c.change(ctx, http.MethodPost, "nodes/"+url.PathEscape(node)+"/call", body, &result)
	return result.Result, err
}

// CallAgent calls a method of an agent, and returns its result. What the method raised is
// fault.Rejected.
func (c *Client) CallAgent(ctx context.Context, agent string, call Call) (json.RawMessage, error) {
	body := struct {
		Method  string                     `json:"method"`
		Args    []json.RawMessage          `json:"args,omitempty"`
		Kwargs  map[string]json.RawMessage `json:"kwargs,omitempty"`
		Timeout float64                    `json:"timeout,omitempty"`
	}{call.Method, call.Args, call.Kwargs, call.Timeout.Seconds()}
	var result answer.CallResult
	err := c.change(ctx, http.MethodPost, agentPath(agent, "call"), body, &result)
	return result.Result, err
}
