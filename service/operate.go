package service

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/wire"
)

// declaredMethods are the methods of declared operations for which a condition holds.
func declaredMethods(t *operation.Table, asked func(*operation.Declared) bool) map[string]method {
	list := map[string]method{}
	if t == nil {
		return list
	}
	for _, d := range t.Methods() {
		if !asked(&d) {
			continue
		}
		list[d.Method] = method{d.Summary + ".", d.Fields, d.Returns(), func(s *Service, ctx context.Context, r *request) ([]byte, error) {
			if d.Waits {
				r.waits()
			}
			return s.operate(ctx, r, d.Name)
		}}
	}
	return list
}

var errKwargs = errors.New("must be an object")

// operate carries out a declared operation for an agent.
func (s *Service) operate(ctx context.Context, r *request, name string) ([]byte, error) {
	args, quick := quickArguments(r.kwargs)
	if !quick {
		if err := json.Unmarshal(r.kwargs, &args); err != nil {
			return nil, fault.E("service.operate", fault.Invalid, "kwargs", errKwargs)
		}
	}
	who := operation.Caller{Name: "agent:" + r.agent.Name, Agent: r.agent.Name, Grants: r.grants}
	if r.far != nil {
		who = r.far.caller()
	}
	return s.cfg.Operations.Run(ctx, &who, name, args)
}

// quickArguments decodes arguments by name; false if package json must do it.
func quickArguments(kwargs []byte) (operation.Arguments, bool) {
	args := operation.Arguments{}
	if len(kwargs) == 0 {
		return args, true
	}
	in := wire.NewReader(kwargs)
	ok := in.Members(func(name []byte) bool {
		value, ok := in.Value()
		args[string(name)] = value
		return ok
	}) && in.Ended()
	return args, ok
}

// caller returns the caller in the form that operations receive.
func (v *RemoteCaller) caller() operation.Caller {
	c := operation.Caller{Name: v.Requester, Role: v.Role, Grants: v.Grants, Remote: true}
	if v.Agent {
		c.Agent, c.Administers = v.Requester, v.Administers
	}
	return c
}
