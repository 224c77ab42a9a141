package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	if err := s.mayCallMethod(ctx, r.user, name, body.Method); err != nil {
		return err
	}
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

var errListed = errors.New("the agent lists no such method; ask it for its methods")

// mayCallMethod refuses a method that demands a named capability to those below the role engineer. Agents
// answer the node whatever they demand of each other, so that it judges here for whom it asks.
func (s *server) mayCallMethod(ctx context.Context, u identity.User, name, method string) error {
	const op = "api.call"
	if u.Role.Includes(identity.Engineer) {
		return nil
	}
	list, err := s.cfg.Calls.Methods(ctx, name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(m answer.Method) bool { return m.Name == method })
	switch {
	case i < 0:
		return fault.E(op, fault.NotFound, clip(name+":"+method), errListed)
	case len(list[i].Needs) > 0:
		return fault.E(op, fault.Refused, clip(name+":"+method), fmt.Errorf(
			"demands %s of agents, and the role engineer of people; ask an engineer", clip(strings.Join(list[i].Needs, ", "))))
	}
	return nil
}

// maxAudited is how much of the arguments of a call the audit log keeps.
const maxAudited = 4096

// auditedCall returns the arguments as the audit log keeps them: without what has the name of a secret.
func auditedCall(args []json.RawMessage, kwargs map[string]json.RawMessage) any {
	detail := struct {
		Args   []json.RawMessage          `json:"args,omitempty"`
		Kwargs map[string]json.RawMessage `json:"kwargs,omitempty"`
	}{make([]json.RawMessage, len(args)), make(map[string]json.RawMessage, len(kwargs))}
	for i, arg := range args {
		detail.Args[i] = withoutSecrets(arg)
	}
	for name, arg := range kwargs {
		if detail.Kwargs[name] = withoutSecrets(arg); SecretName(name) {
			detail.Kwargs[name] = json.RawMessage(hidden)
		}
	}
	if b, err := json.Marshal(detail); err != nil || len(b) > maxAudited {
		return map[string]any{"args_bytes": len(b)}
	}
	return detail
}

// hidden stands for a secret.
const hidden = `"(hidden)"`

// SecretName reports whether something of this name is probably a secret.
func SecretName(name string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	words := []string{"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "privatekey"}
	return plain == "pin" || plain == "seed" || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(plain, word) })
}

// withoutSecrets hides what has the name of a secret within a value.
func withoutSecrets(value json.RawMessage) json.RawMessage {
	if !bytes.ContainsRune(value, '{') {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // numbers stay as they were written
	var v any
	if decoder.Decode(&v) != nil {
		return json.RawMessage(hidden)
	}
	hide(v)
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(hidden)
	}
	return out
}

func hide(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hide(e)
		}
	case map[string]any:
		for name, e := range v {
			if hide(e); SecretName(name) {
				v[name] = json.RawMessage(hidden)
			}
		}
	}
}
