package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/point"
)

// The first tokens of what agents send and receive; see docs/formats/bus.md.
const (
	MessagePrefix = "msg."    // + sender + topic: a free message
	RequestPrefix = "rpc."    // + callee + caller + method: a request
	InboxPrefix   = "_INBOX." // + agent: answers to it
	NewsPrefix    = "news."   // + agent + what: what the node tells it

	// NodeName is the callee of requests to the node itself. No agent has it.
	NodeName = "node"
)

// The topics of free messages on which every agent may send.
const (
	HealthTopic = "health"
	AlertTopic  = "alert" // + the alert's key
)

// RequestSubject returns the subject of a request. The three are names, which hold no slash.
func RequestSubject(callee, caller, method string) string {
	buf := make([]byte, 0, len(RequestPrefix)+len(callee)+len(caller)+len(method)+16)
	buf = AppendSubject(append(buf, RequestPrefix...), point.Path(callee))
	buf = AppendSubject(append(buf, '.'), point.Path(caller))
	return string(AppendSubject(append(buf, '.'), point.Path(method)))
}

// MessageSubject returns the subject of a free message on a topic.
func MessageSubject(sender string, topic point.Path) string {
	buf := AppendSubject(append(make([]byte, 0, 64), MessagePrefix...), point.Path(sender))
	return string(AppendSubject(append(buf, '.'), topic))
}

var (
	errRequestSubject = errors.New("is not the subject of a request; write rpc.<callee>.<caller>.<method>")
	errMessageSubject = errors.New("is not the subject of a message; write msg.<sender>.<topic>")
)

// Request is who asks whom for what.
type Request struct{ Callee, Caller, Method string }

// ParseRequestSubject is the inverse of RequestSubject.
func ParseRequestSubject(subject string) (Request, error) {
	const op = "wire.ParseRequestSubject"
	rest, ok := strings.CutPrefix(subject, RequestPrefix)
	parts := strings.Split(rest, ".")
	if !ok || len(parts) != 3 {
		return Request{}, fault.E(op, fault.Invalid, subject, errRequestSubject)
	}
	for i, token := range parts {
		var err error
		if parts[i], err = unescape(token); err != nil {
			return Request{}, fault.E(op, fault.Invalid, subject, errRequestSubject)
		}
	}
	return Request{parts[0], parts[1], parts[2]}, nil
}

// ParseMessageSubject is the inverse of MessageSubject.
func ParseMessageSubject(subject string) (sender string, topic point.Path, err error) {
	rest, ok := strings.CutPrefix(subject, MessagePrefix)
	token, rest, more := strings.Cut(rest, ".")
	if !ok || !more {
		return "", "", fault.E("wire.ParseMessageSubject", fault.Invalid, subject, errMessageSubject)
	}
	if sender, err = unescape(token); err == nil {
		topic, err = ParseSubject("", rest)
	}
	if err != nil {
		return "", "", fault.E("wire.ParseMessageSubject", fault.Invalid, subject, errMessageSubject)
	}
	return sender, topic, nil
}

// Arguments is the body of a request. Either may be missing; an empty body has none.
type Arguments struct {
	Args   []json.RawMessage          `json:"args,omitempty"`
	Kwargs map[string]json.RawMessage `json:"kwargs,omitempty"`
}

var errArguments = errors.New(`the body of a request is empty, or an object {"args":[…],"kwargs":{…}} with either or both`)

// ParseArguments reads the body of a request.
func ParseArguments(body []byte) (a Arguments, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return a, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err = d.Decode(&a); err != nil {
		return a, fault.E("wire.ParseArguments", fault.Invalid, "body", fmt.Errorf("%w: %w", errArguments, err))
	}
	if d.More() {
		return a, fault.E("wire.ParseArguments", fault.Invalid, "body", errArguments)
	}
	return a, nil
}

// Reply is the body of an answer: one of the two.
type Reply struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// RemoteKind is the kind of a Failure that the method itself raised.
const RemoteKind = "remote"

// Failure says why a request was not answered with a result. It is an error, of its fault kind as
// far as the kind names one.
type Failure struct {
	Kind    string `json:"kind"` // a fault kind, or RemoteKind
	Message string `json:"message"`
	Subject string `json:"subject,omitempty"` // what it is about
	Missing string `json:"missing,omitempty"` // of a refusal: the capability, as a grant is written

	// Of RemoteKind: what was raised there.
	Type  string            `json:"type,omitempty"`
	Args  []json.RawMessage `json:"args,omitempty"`
	Trace string            `json:"trace,omitempty"` // only for callers that hold the capability "trace"

	Problems []Problem `json:"problems,omitempty"` // of samples that were not recorded
}

// Problem is what is wrong with one of several things that were sent.
type Problem struct {
	Index   int    `json:"index"` // from 0
	Message string `json:"message"`
}

// Error returns what went wrong, in words.
func (f *Failure) Error() string { return f.Message }
