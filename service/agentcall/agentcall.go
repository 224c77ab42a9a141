// Package agentcall calls agents on behalf of the node, and turns their replies into results and errors.
package agentcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// Bus carries requests to agents, as package bus does.
type Bus interface {
	// Call returns the reply of an agent: fault.Unreachable if there is none of that name, fault.Timeout if it does not answer before ctx ends.
	Call(ctx context.Context, agent, method string, body []byte) ([]byte, error)
}

// Calls calls the agents of a node.
type Calls struct {
	Agents *registry.Agents
	Bus    Bus
}

// Call runs a method of an agent and returns its result. An exception that the method raised is an *answer.RaisedError.
func (c Calls) Call(ctx context.Context, agent, method string, args wire.Arguments) (json.RawMessage, error) {
	const op = "agentcall.Call"
	if _, err := c.Agents.Agent(agent); err != nil {
		return nil, err
	}
	body, err := json.Marshal(args)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, agent, err)
	}
	data, err := c.Bus.Call(ctx, agent, method, body)
	if err != nil {
		return nil, err
	}
	var reply wire.Reply
	if err := json.Unmarshal(data, &reply); err != nil {
		return nil, fault.E(op, fault.Corrupt, agent+":"+method, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if f := reply.Error; f != nil {
		return nil, callFailure(agent+":"+method, f)
	}
	return reply.Result, nil
}

// callFailure converts the failure in a reply to an error of its kind. A defect of the agent counts as raised by it, not as one of the node.
func callFailure(subject string, f *wire.Failure) error {
	kind, known := fault.ParseKind(f.Kind)
	if !known || kind == fault.Internal {
		return &answer.RaisedError{Raised: answer.Raised{Type: f.Type, Message: f.Message, Args: f.Args}}
	}
	if f.Subject != "" {
		subject = f.Subject
	}
	return fault.E("agentcall.Call", kind, subject, errors.New(f.Message))
}

// described is a method as an agent describes it. SDKs of some languages list several capabilities, others name one.
type described struct {
	wire.Method
	Needs json.RawMessage `json:"needs"`
}

// Methods lists the methods of an agent.
func (c Calls) Methods(ctx context.Context, agent string) ([]answer.Method, error) {
	result, err := c.Call(ctx, agent, "inspect", wire.Arguments{})
	if err != nil {
		return nil, err
	}
	if err := wire.Readable(agent, result); err != nil {
		return nil, fault.E("agentcall.Methods", fault.Corrupt, agent, err)
	}
	var list []described
	if err := json.Unmarshal(result, &list); err != nil {
		return nil, fault.E("agentcall.Methods", fault.Corrupt, agent, fmt.Errorf("what it says of its methods cannot be read: %w", err))
	}
	out := make([]answer.Method, len(list))
	for i := range list {
		m := &list[i]
		out[i] = answer.Method{Name: m.Name, Doc: m.Doc, Result: m.Result, Params: make([]answer.Param, len(m.Params))}
		for j, p := range m.Params {
			out[i].Params[j] = answer.Param{Name: p.Name, Type: p.Type, Default: p.Default, Kind: paramKind(p.Kind)}
		}
		var one string
		if json.Unmarshal(m.Needs, &one) == nil && one != "" {
			out[i].Needs = []string{one}
		} else if json.Unmarshal(m.Needs, &out[i].Needs) != nil {
			out[i].Needs = nil
		}
	}
	return out, nil
}

// paramKind returns our word for a Python kind of argument.
func paramKind(kind string) string {
	switch kind {
	case wire.PositionalParam, wire.KeywordParam:
		return kind
	case "args", "kwargs", wire.RestParam:
		return wire.RestParam
	}
	return wire.EitherParam
}
