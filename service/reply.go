package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// appendResult wraps a result, which is JSON, in a reply.
func appendResult(result []byte) []byte {
	out := make([]byte, 0, len(result)+envelope)
	out = append(out, `{"result":`...)
	return append(append(out, result...), '}')
}

// failed returns the reply to an error. The details of internal errors go to the log only, and refusals of the agent are reported to Refused.
func (s *Service) failed(ctx context.Context, from, name string, err error) []byte {
	f := failure(err)
	if f.Kind == fault.Internal.String() && f.Node == "" {
		s.cfg.Log.LogAttrs(ctx, slog.LevelError, "request of an agent failed by a defect",
			slog.String("agent", from), slog.String("method", clip(name)), slog.Any("err", err))
		f.Message = errDefect.Error()
	}
	if f.Missing != "" && s.cfg.Refused != nil && name != "remote" { // which the tree reports
		s.cfg.Refused(Refusal{Callee: "node", Caller: from, Method: clip(name), Missing: f.Missing})
	}
	out, jerr := json.Marshal(wire.Reply{Error: f})
	if jerr != nil { // strings and numbers can always be encoded
		return []byte(`{"error":{"kind":"internal","message":"the node met a defect"}}`)
	}
	return out
}

// problems is an error about several of the items sent.
type problems struct {
	list []wire.Problem
	err  error
}

func (p *problems) Error() string { return p.err.Error() }
func (p *problems) Unwrap() error { return p.err }

func failure(err error) *wire.Failure {
	if there, ok := errors.AsType[*wire.Failure](err); ok {
		return there // another node's error is passed on unchanged
	}
	f := &wire.Failure{Kind: fault.KindOf(err).String(), Message: err.Error(), Missing: identity.MissingOf(err)}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Err != nil {
		f.Message, f.Subject = e.Err.Error(), e.Subject
	}
	if p, ok := errors.AsType[*problems](err); ok {
		f.Problems = p.list
	}
	if r, ok := errors.AsType[*access.Refused](err); ok {
		f.Why = r.Why
		f.Holders, _ = json.Marshal(r.Holders) // strings and numbers cannot fail
	}
	return f
}

var (
	errEnvelope   = errors.New(`the body of a request is empty, or an object such as {"kwargs":{"name":"value"}}`)
	errPositional = errors.New(`methods of the node take arguments by name: {"kwargs":{"name":"value"}}`)
)

// parseEnvelope returns the arguments by name, undecoded.
func parseEnvelope(body []byte) (kwargs []byte, err error) {
	const op = "service.Answer"
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil
	}
	if quick, ok := quickEnvelope(body); ok {
		return quick, nil
	}
	var e struct {
		Args   []json.RawMessage `json:"args"`
		Kwargs json.RawMessage   `json:"kwargs"`
	}
	if err := strict(body, &e); err != nil {
		return nil, fault.E(op, fault.Invalid, "body", fmt.Errorf("%w: %w", errEnvelope, err))
	}
	if len(e.Args) > 0 {
		return nil, fault.E(op, fault.Invalid, "args", errPositional)
	}
	return e.Kwargs, nil
}

// quickEnvelope decodes a body that has only arguments by name; false if encoding/json must do it.
func quickEnvelope(body []byte) (kwargs []byte, ok bool) {
	r := wire.NewReader(body)
	ok = r.Members(func(name []byte) (ok bool) {
		if string(name) == "kwargs" && kwargs == nil {
			kwargs, ok = r.Value()
		}
		return ok
	})
	return kwargs, ok && kwargs != nil && r.Ended()
}

var errMore = errors.New("something follows behind the object")

func strict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errMore
	}
	return nil
}

// decode decodes the arguments by name. Unknown ones are refused, with a list of the known ones.
func (r *request) decode(into any) error {
	if len(r.kwargs) == 0 || string(r.kwargs) == "null" {
		return nil
	}
	if quick, ok := into.(interface{ Scan(data []byte) bool }); ok && quick.Scan(r.kwargs) {
		return nil
	}
	err := strict(r.kwargs, into)
	if err == nil {
		return nil
	}
	known := strings.Join(names(reflect.TypeOf(into).Elem()), ", ")
	if known == "" {
		known = "no arguments"
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fault.E("service.decode", fault.Invalid, wrong.Field, fmt.Errorf(
			"must be %s, not %s", describeType(wrong.Type), wrong.Value))
	}
	return fault.E("service.decode", fault.Invalid, "kwargs", fmt.Errorf(
		"%s; there are %s", strings.TrimPrefix(err.Error(), "json: "), known))
}

// names returns the JSON names of the fields.
func names(t reflect.Type) []string {
	var list []string
	for field := range t.Fields() {
		if field.Anonymous {
			list = append(list, names(field.Type)...)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		list = append(list, name)
	}
	return list
}

// describeType names a Go type in terms of JSON.
func describeType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem() // may be omitted
	}
	switch t.Kind() { //nolint:exhaustive // the rest is a number
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "any"
		}
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

const maxClip = 200

// clip shortens received text before it is repeated.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}
