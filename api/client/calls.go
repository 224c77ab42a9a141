package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"voltbus/api/answer"
	"voltbus/operation/agents"
)

// Call is a call of a method of an agent, in the name of the node.
type Call struct {
	Method string
	Args   []json.RawMessage          // positional
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
	resp, err := c.call(ctx, http.MethodPost, "nodes/"+url.PathEscape(node)+"/call", nil, body)
	if err != nil {
		return nil, err
	}
	err = errors.Join(decode(resp.Body, &result), resp.Body.Close())
	return result.Result, err
}

// CallAgent calls a method of an agent and returns its result. An exception that the method raised is fault.Rejected.
func (c *Client) CallAgent(ctx context.Context, agent string, call Call) (json.RawMessage, error) {
	in := agents.Request{Agent: agents.Agent{Name: agent}, Method: call.Method, Args: call.Args, Kwargs: call.Kwargs}
	if call.Timeout != 0 {
		seconds := call.Timeout.Seconds()
		in.Timeout = &seconds
	}
	result, err := Do(ctx, c, agents.Call, in)
	return result.Result, err
}
