package service

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/wire"
)

// method is a method open to agents.
type method struct {
	doc    string
	args   any // a struct whose fields are the arguments, or a list of operation.Field
	result string
	answer func(*Service, context.Context, *request) ([]byte, error)
}

// methods lists what the node answers.
func methods() map[string]method {
	list := map[string]method{
		"hello": {
			"Say who connected, and get the own standing. The first request on every connection.",
			hello{},
			"{node, name, time, standing}", (*Service).hello,
		},
		"standing": {"The own grants, and what the callers are bound to.", none{}, "{version, grants, callers}", (*Service).standing},
		"record": {
			"Keep samples: when it answers they are on disk, all or none. A key makes a repeat harmless.",
			record{},
			"{accepted}", (*Service).record,
		},
		"peers":   {"The agents of this node, and how they are.", none{}, "[{name, online, since, status, context, version}]", (*Service).peers},
		"refused": {"Tell of a request that was refused to a caller.", refused{}, "null", (*Service).refused},
		"ping":    {"Answer.", none{}, `"pong"`, (*Service).ping},
		"inspect": {"List the methods.", none{}, "[{name, doc, params, result, needs}]", (*Service).inspect},
	}
	maps.Copy(list, remoteMethods())
	return list
}

// none stands for no arguments.
type none struct{}

func (s *Service) unknown() error {
	return errors.New("is no method of the node; there are " + strings.Join(slices.Sorted(maps.Keys(s.methods)), ", "))
}

func (s *Service) ping(_ context.Context, r *request) ([]byte, error) {
	return []byte(`"pong"`), r.decode(&none{})
}

func (s *Service) inspect(_ context.Context, r *request) ([]byte, error) {
	if err := r.decode(&none{}); err != nil {
		return nil, err
	}
	methods := s.methods
	if r.far != nil {
		methods = s.visited
	}
	list := make([]wire.Method, 0, len(methods))
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		m := methods[name]
		fields, are := m.args.([]operation.Field)
		if !are {
			fields = operation.FieldsOf(reflect.TypeOf(m.args))
		}
		out := wire.Method{Name: name, Doc: m.doc, Result: m.result, Params: []wire.Param{}}
		for i := range fields {
			f := &fields[i]
			out.Params = append(out.Params, wire.Param{Name: f.Name, Type: describeType(f.Type), Kind: wire.KeywordParam})
		}
		list = append(list, out)
	}
	return encode(list)
}

func encode(v any) ([]byte, error) {
	if quick, ok := v.(interface{ AppendJSON(dst []byte) []byte }); ok {
		return quick.AppendJSON(nil), nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fault.E("service.encode", fault.Internal, "", err)
	}
	return b, nil
}
