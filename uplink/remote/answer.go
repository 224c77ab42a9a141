// Package remote answers requests of callers at other nodes to this node and its agents, and sends requests of this node's callers to
// other nodes.
package remote

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation"
	"voltbus/service"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Agents reaches the agents of this node.
type Agents interface {
	// Methods returns the methods that an agent describes.
	Methods(ctx context.Context, agent string) ([]answer.Method, error)
}

// Bus carries remote requests to agents. Package bus implements it.
type Bus interface {
	// CallFor returns the reply of an agent, which is told on whose behalf; "" for nobody.
	CallFor(ctx context.Context, caller, agent, method string, body []byte) ([]byte, error)
}

// Answerer answers remote callers. All fields are required.
type Answerer struct {
	Operations *operation.Table
	Service    *service.Service
	Registry   *registry.Agents
	Agents     Agents
	Bus        Bus
}

// Answer answers a request from another node to this one or to one of its agents.
func (a *Answerer) Answer(ctx context.Context, v *tree.RemoteCaller, r *tree.Request) (json.RawMessage, error) {
	if _, is := a.Operations.Remote(r.Method); is && r.Agent == wire.NodeName {
		return a.operate(ctx, v, r)
	}
	if r.Agent == wire.NodeName {
		return a.Service.AnswerRemote(ctx, remoteCaller(v, a.Service.Role(r.Method)), r.Method, r.Body)
	}
	if _, err := a.Registry.Agent(r.Agent); err != nil {
		return nil, err
	}
	if err := a.mayCall(ctx, v, r); err != nil {
		return nil, err
	}
	data, err := a.Bus.CallFor(ctx, v.For.String(), r.Agent, r.Method, r.Body)
	if err != nil {
		return nil, err
	}
	return tree.Parse(r.Agent+":"+r.Method, data)
}

var errPeople = errors.New("is for people; an agent asks another node what it may ask its own")

// operate carries out a declared operation for a neighbour, if it has the capability "call node:<method>" and the
// caller's role at its own node permits it.
func (a *Answerer) operate(ctx context.Context, v *tree.RemoteCaller, r *tree.Request) (json.RawMessage, error) {
	args, err := wire.ParseArguments(r.Body)
	if err != nil {
		return nil, err
	}
	named := make(map[string]any, len(args.Kwargs))
	for name, text := range args.Kwargs {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, fault.E("remote.Answer", fault.Invalid, name, err)
		}
		named[name] = value
	}
	d, _ := a.Operations.Remote(r.Method)
	if err := mayRequest(v, &d, r.Method, named); err != nil {
		return nil, err
	}
	if v.IsAgent() {
		return nil, fault.E("remote.Answer", fault.Refused, r.Method, errPeople)
	}
	who := operation.Caller{Name: v.For.String(), Role: v.As(d.Role), Grants: v.Grants, Remote: true}
	if v.For == (identity.Principal{}) {
		who.Name = neighbourKind + v.Name
	}
	return a.Operations.AnswerRemote(ctx, &who, r.Method, args.Kwargs)
}

// neighbourKind is the prefix of the name of a node that does not name the caller.
const neighbourKind = "node:"

// mayRequest reports whether a neighbour may ask for a method: by its present or earlier name.
func mayRequest(v *tree.RemoteCaller, d *operation.Declared, method string, named map[string]any) error {
	err := v.Grants.MayCall(wire.NodeName, method, named)
	for _, name := range []string{d.Name, d.Before} {
		if name != "" && err != nil && v.Grants.MayCall(wire.NodeName, name, named) == nil {
			return nil
		}
	}
	return err
}

// remoteCaller returns the remote caller for an operation that requires a role of people.
func remoteCaller(v *tree.RemoteCaller, needed identity.Role) *service.RemoteCaller {
	out := &service.RemoteCaller{Neighbour: v.Neighbour(), Requester: v.Requester(), Grants: v.Grants}
	if v.IsAgent() {
		out.Agent, out.Administers = true, v.Own != nil && v.Own.Administer
		return out
	}
	out.Role = v.As(needed)
	return out
}

var errCaller = errors.New("needs the role operator, as calling an agent does at its own node")

// mayCall checks whether the caller may call the method of an agent: people need the role that they need at their own
// node. Agents answer the node whatever they require of callers, so the node checks this for the caller.
func (a *Answerer) mayCall(ctx context.Context, v *tree.RemoteCaller, r *tree.Request) error {
	if r.Method == "inspect" || r.Method == "ping" {
		return nil
	}
	if !v.IsAgent() && !v.As(identity.Operator).Includes(identity.Operator) {
		return fault.E("remote.Answer", fault.Refused, r.Agent+":"+r.Method, errCaller)
	}
	list, err := a.Agents.Methods(ctx, r.Agent)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Name != r.Method {
			continue
		}
		for _, need := range list[i].Needs {
			if err := v.Holds(r, need); err != nil {
				return err
			}
		}
	}
	return nil
}
