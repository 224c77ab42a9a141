package service

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/fault"
	"voltbus/operation"
)

// allMethods are those of this package, and of declared operations that agents may ask for.
func allMethods(t *operation.Table) map[string]method {
	list := methods()
	if t == nil {
		return list
	}
	for _, d := range t.Methods() {
		list[d.Method] = method{d.Summary + ".", d.Fields, d.Returns(), func(s *Service, ctx context.Context, r *request) ([]byte, error) {
			return s.operate(ctx, r, d.Name)
		}}
	}
	return list
}

var errKwargs = errors.New("must be an object")

// operate has a declared operation done for an agent.
func (s *Service) operate(ctx context.Context, r *request, name string) ([]byte, error) {
	args := operation.Arguments{}
	if len(r.kwargs) > 0 {
		if err := json.Unmarshal(r.kwargs, &args); err != nil {
			return nil, fault.E("service.operate", fault.Invalid, "kwargs", errKwargs)
		}
	}
	who := operation.Caller{Name: "agent:" + r.agent.Name, Agent: r.agent.Name, Grants: r.grants}
	return s.cfg.Operations.Run(ctx, &who, name, args)
}
