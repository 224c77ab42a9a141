package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/wire"
)

// Calls calls methods of agents on behalf of the node, which every agent answers.
type Calls interface {
	// Call returns the result of a method. fault.NotFound: there is no such agent or method; fault.Unreachable, at once: it is not connected;
	// fault.Timeout: it did not answer before ctx ended. An exception that the method raised is a *answer.RaisedError.
	Call(ctx context.Context, agent, method string, args wire.Arguments) (json.RawMessage, error)
	// Methods lists the methods of an agent.
	Methods(ctx context.Context, agent string) ([]answer.Method, error)
}

// Request is a call of a method.
type Request struct {
	Agent
	Method  string                     `json:"method" api:"required,min=1,max=200"`
	Args    []json.RawMessage          `json:"args" doc:"Arguments by place"`
	Kwargs  map[string]json.RawMessage `json:"kwargs" api:"object" doc:"Arguments by name"`
	Timeout *float64                   `json:"timeout" api:"judged,max=300,default=30" doc:"Seconds to wait for the answer, more than 0"`
}

const (
	usualCall = 30 * time.Second // default limit for a method
	maxCall   = 5 * time.Minute
	askTime   = 5 * time.Second // limit for an agent to list its methods
)

// The operations.
var (
	Methods = declare[Agent, answer.Methods](operation.Spec{
		Owner: operation.AgentNamed, Name: "agent.methods", ID: "listMethods", HTTP: "GET /agents/{name}/methods", Role: identity.Viewer,
		Summary: "Read what an agent that is connected answers, as it says", Result: "Its methods",
	})
	Call = operation.Declare[Request, answer.CallResult](operation.Spec{
		Owner: operation.AgentNamed, Name: "agent.call", HTTP: "POST /agents/{name}/call", Role: identity.Operator, Audited: true, Body: most, Wait: maxCall + askTime,
		Summary: "Call a method of an agent in the name of the node", Result: "What it returned",
		Doc: `The agent answers the node whatever it demands of other callers; a method that demands a capability ("needs") is for the role ` +
			`engineer. 502 at once if the agent is not connected, 504 if it does not answer in time, 422 with "raised" if the method itself failed. ` +
			`The audit log is told, with the arguments; values whose names are those of secrets, such as password or token, stand there as "(hidden)".`,
	})
)

func (p *Part) methods(ctx context.Context, _ *operation.Call, in *Agent) (answer.Methods, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	list, err := p.Calls.Methods(ctx, in.Name)
	return answer.Methods{Methods: list}, err
}

var (
	errCallTime = fmt.Errorf("must be seconds, more than 0 and at most %d", int(maxCall.Seconds()))
	errListed   = errors.New("the agent lists no such method; ask it for its methods")
)

// mayCall refuses a method that requires a named capability to callers below the role engineer. Agents answer the node whatever they require of each
// other, so the node checks here on whose behalf it calls. The audit log records the arguments, too.
func (p *Part) mayCall(ctx context.Context, c *operation.Call, in *Request) error {
	const op = "agents.call"
	subject := in.subject()
	c.Did(subject, operation.AuditedArguments(in.Args, in.Kwargs))
	if in.Timeout != nil && !(*in.Timeout > 0 && *in.Timeout <= maxCall.Seconds()) {
		return fault.E(op, fault.Invalid, "timeout", errCallTime)
	}
	if c.Role.Includes(identity.Engineer) {
		return nil
	}
	list, err := p.methods(ctx, c, &in.Agent)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list.Methods, func(m answer.Method) bool { return m.Name == in.Method })
	switch {
	case i < 0:
		return fault.E(op, fault.NotFound, subject, errListed)
	case len(list.Methods[i].Needs) > 0:
		return fault.E(op, fault.Refused, subject, fmt.Errorf(
			"demands %.200s of agents, and the role engineer of people; ask an engineer", strings.Join(list.Methods[i].Needs, ", ")))
	}
	return nil
}

// subject names the method.
func (r *Request) subject() string { return r.Name + ":" + r.Method }

func (p *Part) call(ctx context.Context, _ *operation.Call, in *Request) (answer.CallResult, error) {
	patience := usualCall
	if in.Timeout != nil {
		patience = time.Duration(*in.Timeout * float64(time.Second))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	result, err := p.Calls.Call(ctx, in.Name, in.Method, wire.Arguments{Args: in.Args, Kwargs: in.Kwargs})
	if raised, ok := errors.AsType[*answer.RaisedError](err); ok {
		return answer.CallResult{}, fault.E("agents.call", fault.Rejected, in.subject(), raised)
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return answer.CallResult{Result: result}, err
}
