package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/transport"
	"voltbus/wire"
)

const (
	callTime = 30 * time.Second // default limit for a method
	maxCall  = 5 * time.Minute
)

var errCallTime = fmt.Errorf("must be seconds, more than 0 and at most %d", int(maxCall.Seconds()))

// RaisedError is what a method of an agent raised.
type RaisedError = answer.RaisedError

// remoteCalls serves calls of methods on other nodes.
type remoteCalls struct {
	remote     exchange.Remote
	operations *operation.Table
}

func (c remoteCalls) routes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.CallNode, c.call),
	}
}

// remoteCall is the request body of a call to another node.
type remoteCall struct {
	Agent   string                     `json:"agent"`
	Method  string                     `json:"method"`
	Args    []json.RawMessage          `json:"args"`
	Kwargs  map[string]json.RawMessage `json:"kwargs"`
	Timeout float64                    `json:"timeout"`
}

// call calls a method of an agent of another node, or of the node itself.
func (c remoteCalls) call(w http.ResponseWriter, r *exchange.Request) error {
	if c.remote == nil {
		return exchange.Absent("other nodes")
	}
	in := exchange.Read(r)
	node := in.Segment("name")
	r.Did(node, nil)
	if in.Err != nil {
		return in.Err
	}
	body := remoteCall{Agent: wire.NodeName, Timeout: callTime.Seconds()}
	if err := exchange.ReadJSON(w, r, &body); err != nil {
		return err
	}
	r.Did(exchange.Clip(node+"/"+body.Agent+":"+body.Method), operation.AuditedArguments(body.Args, body.Kwargs))
	if body.Method == "" {
		return fault.E("api.call", fault.Invalid, "method", exchange.ErrMissing)
	}
	patience := time.Duration(body.Timeout * float64(time.Second))
	if body.Timeout <= 0 || body.Timeout > maxCall.Seconds() {
		return fault.E("api.call", fault.Invalid, "timeout", errCallTime)
	}
	if err := c.mayCall(r.Context(), r.User, &body); err != nil {
		return err
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + answerTimeout)) // a connection without deadlines has none
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	who := exchange.CallerOf(r.User)
	result, err := c.remote.Ask(ctx, &who, exchange.RemoteCall{Node: node, Agent: body.Agent, Method: body.Method, Args: wire.Arguments{Args: body.Args, Kwargs: body.Kwargs}})
	if raised, ok := errors.AsType[*RaisedError](err); ok {
		return fault.E("api.call", fault.Rejected, exchange.Clip(node+"/"+body.Agent+":"+body.Method), raised)
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, answer.CallResult{Result: result})
}

// mayCall decides by role what people may request from other nodes: viewers read, operators call and
// command at the levels that they have here. The other nodes check this again, and what this node may do
// there.
func (c remoteCalls) mayCall(ctx context.Context, u identity.User, call *remoteCall) error {
	needed := identity.Operator
	if call.Agent == wire.NodeName {
		who := exchange.CallerOf(u)
		args, known, err := c.operations.Leaving(ctx, &who, call.Method, call.Kwargs)
		if call.Kwargs = args; known {
			return err
		}
		needed = c.remote.Role(call.Method)
	}
	if !u.Role.Includes(needed) {
		return fault.E("api.call", fault.Refused, exchange.Clip(call.Method), fmt.Errorf("needs the role %v, as it does at its own node", needed))
	}
	return nil
}
