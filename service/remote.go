package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Tree forwards requests to other nodes, as package tree does.
type Tree interface {
	Ask(ctx context.Context, c tree.Caller, r tree.Request) (json.RawMessage, error)
}

// remote are the arguments of the method.
type remote struct {
	Node    string                     `json:"node"`
	Agent   string                     `json:"agent"`
	Method  string                     `json:"method"`
	Args    []json.RawMessage          `json:"args"`
	Kwargs  map[string]json.RawMessage `json:"kwargs"`
	Timeout float64                    `json:"timeout"`
}

func remoteMethods() map[string]method {
	return map[string]method{
		"listen": {
			"The live messages of points since the last answer, whose cursor is given; waits for some.",
			listen{},
			"{cursor, messages, dropped, begun}", (*Service).listen,
		},
		"remote": {
			"Call a method of an agent of another node; the agent node is that node itself.",
			remote{Agent: wire.NodeName},
			"what the method returns", (*Service).remote,
		},
	}
}

var errPatience = fmt.Errorf("is a number of seconds, more than 0 and at most %g", deadline.Seconds())

// remote forwards a request to another node.
func (s *Service) remote(ctx context.Context, r *request) ([]byte, error) {
	if s.cfg.Tree == nil {
		return nil, absent("other nodes")
	}
	in := remote{Agent: wire.NodeName, Timeout: tree.UsualTime.Seconds()}
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if !(in.Timeout > 0 && in.Timeout <= deadline.Seconds()) {
		return nil, fault.E("service.remote", fault.Invalid, "timeout", errPatience)
	}
	body, err := json.Marshal(wire.Arguments{Args: in.Args, Kwargs: in.Kwargs})
	if err != nil {
		return nil, fault.E("service.remote", fault.Invalid, "args", err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(in.Timeout*float64(time.Second)))
	defer cancel()
	result, err := s.cfg.Tree.Ask(ctx, tree.Caller{Name: "agent:" + r.agent.Name, Grants: &r.grants}, tree.Request{Node: in.Node, Agent: in.Agent, Method: in.Method, Body: body})
	if err == nil && len(result) == 0 {
		result = json.RawMessage("null")
	}
	return result, err
}

// readers lists the methods of this package that other nodes may call, too. They are read-only.
func readers() []string { return []string{"inspect", "listen", "ping"} }

// RemoteMethods lists the methods that a node answers for other nodes, including those of operations declared so.
func RemoteMethods(declared []operation.Declared) []string {
	return visitable(declared, func(*operation.Declared) bool { return true })
}

// Readers lists the read-only ones among them.
func Readers(declared []operation.Declared) []string {
	return visitable(declared, func(d *operation.Declared) bool { return !d.Changes() })
}

func visitable(declared []operation.Declared, is func(*operation.Declared) bool) []string {
	list := readers()
	for i := range declared {
		if d := &declared[i]; d.Granted && is(d) {
			list = append(list, d.Method)
		}
	}
	slices.Sort(list)
	return list
}

// visits are the methods that another node may call on this one.
func visits(own map[string]method, t *operation.Table) map[string]method {
	list := declaredMethods(t, func(d *operation.Declared) bool { return d.Granted })
	for _, name := range readers() {
		list[name] = own[name]
	}
	return list
}

var errNotFromAfar = errors.New("cannot be asked of a node from another one; inspect lists what can")

// Role returns the role that people need to call a node's method from another node: that of the same operation over HTTP.
func (s *Service) Role(method string) identity.Role {
	if slices.Contains(readers(), method) {
		return identity.Viewer
	}
	if s.cfg.Operations != nil {
		if d, is := s.cfg.Operations.Granted(method); is {
			return d.Role
		}
	}
	return identity.Operator
}

// RemoteCaller is a caller at another node.
type RemoteCaller struct {
	Neighbour   string          // through which the request came, such as @campus
	Requester   string          // the owner of what is done, such as agent:campus/weather
	Grants      identity.Grants // of the neighbour
	Role        identity.Role   // of a person
	Agent       bool            // the caller is an agent, which has no role
	Administers bool            // the agent has administer at its node, and the neighbour may pass that on
}

// AnswerRemote answers a request from another node: on behalf of the remote caller, within the neighbour's grants and, for a person, the role.
func (s *Service) AnswerRemote(ctx context.Context, v *RemoteCaller, name string, body []byte) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	m, is := s.visited[name]
	if !is {
		return nil, fault.E("service.Visit", fault.NotFound, clip(name), errNotFromAfar)
	}
	if needed := s.Role(name); !v.Agent && !v.Role.Includes(needed) {
		return nil, fault.E("service.Visit", fault.Refused, name, fmt.Errorf("%s has the role %v, and this needs %v", v.Requester, v.Role, needed))
	}
	kwargs, err := parseEnvelope(body)
	if err != nil {
		return nil, err
	}
	result, err := m.answer(s, ctx, &request{
		agent: registry.Agent{Name: v.Neighbour, Grants: v.Grants}, grants: v.Grants, kwargs: kwargs, far: v,
	})
	if err == nil && len(result) > MaxBody-envelope {
		err = fault.E("service.Visit", fault.Invalid, name, errAnswer)
	}
	return result, err
}
