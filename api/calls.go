package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// Calls reaches the methods of agents in the name of the node, which every agent answers.
type Calls interface {
	// Call returns the result of a method. fault.NotFound: there is no such agent or method;
	// fault.Unreachable, at once: it is not connected; fault.Timeout: it did not answer before ctx
	// ended. What the method itself raised is a *RaisedError.
	Call(ctx context.Context, agent, method string, args wire.Arguments) (json.RawMessage, error)
	// Methods returns what the agent answers.
	Methods(ctx context.Context, agent string) ([]answer.Method, error)
}

// RaisedError is what a method of an agent raised.
type RaisedError struct{ answer.Raised }

// Error returns type and message.
func (e *RaisedError) Error() string { return fmt.Sprintf("raised %s: %s", e.Type, e.Message) }

const (
	callBody = 1 << 20
	callTime = 30 * time.Second // that a method may take, unless the request says more
	maxCall  = 5 * time.Minute
	askTime  = 5 * time.Second // that an agent may take to list its methods
)

func callRoutes() []route {
	const path = prefix + "/agents/{name}"
	return []route{
		{method: "GET", path: path + "/methods", role: identity.Viewer, serve: (*server).methods},
		{method: "POST", path: path + "/call", role: identity.Operator, body: callBody, serve: (*server).callAgent, audit: "agent.call"},
	}
}

func (s *server) methods(w http.ResponseWriter, r *request) error {
	if s.cfg.Calls == nil {
		return absent("agents")
	}
	in := s.read(r)
	name := in.segment("name")
	if in.err != nil {
		return in.err
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	list, err := s.cfg.Calls.Methods(ctx, name)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.Methods{Methods: list})
}

var errCallTime = fmt.Errorf("must be seconds, more than 0 and at most %d", int(maxCall.Seconds()))

// callAgent calls a method. The audit log is told of the arguments, too.
func (s *server) callAgent(w http.ResponseWriter, r *request) error {
	if s.cfg.Calls == nil {
		return absent("agents")
	}
	in := s.read(r)
	name := in.segment("name")
	r.did(name, nil)
	if in.err != nil {
		return in.err
	}
	body := struct {
		Method  string                     `json:"method"`
		Args    []json.RawMessage          `json:"args"`
		Kwargs  map[string]json.RawMessage `json:"kwargs"`
		Timeout float64                    `json:"timeout"`
	}{Timeout: callTime.Seconds()}
	if err := readJSON(w, r, &body); err != nil {
		return err
	}
	r.did(clip(name+":"+body.Method), auditedCall(body.Args, body.Kwargs))
	if body.Method == "" {
		return fault.E("api.call", fault.Invalid, "method", errMissing)
	}
	patience := time.Duration(body.Timeout * float64(time.Second))
	if body.Timeout <= 0 || body.Timeout > maxCall.Seconds() {
		return fault.E("api.call", fault.Invalid, "timeout", errCallTime)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(patience + answerTimeout)) // a connection without deadlines has none
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	result, err := s.cfg.Calls.Call(ctx, name, body.Method, wire.Arguments{Args: body.Args, Kwargs: body.Kwargs})
	if raised, ok := errors.AsType[*RaisedError](err); ok {
		return fault.E("api.call", fault.Rejected, clip(name+":"+body.Method), raised)
	}
	if err != nil {
		return err
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return writeJSON(w, answer.CallResult{Result: result})
}

// maxAudited is how much of the arguments of a call the audit log keeps.
const maxAudited = 4096

func auditedCall(args []json.RawMessage, kwargs map[string]json.RawMessage) any {
	detail := struct {
		Args   []json.RawMessage          `json:"args,omitempty"`
		Kwargs map[string]json.RawMessage `json:"kwargs,omitempty"`
	}{args, kwargs}
	if b, err := json.Marshal(detail); err != nil || len(b) > maxAudited {
		return map[string]any{"args_bytes": len(b)}
	}
	return detail
}
