package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
)

// The topics of free messages on which every agent may send.
const (
	HealthTopic = "health"
	AlertTopic  = "alert" // + the alert's key
)

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
	if quick, ok := quickArguments(body); ok {
		return quick, nil
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

// ParseReply reads the body of an answer. The result is a part of body.
func ParseReply(body []byte) (r Reply, err error) {
	if result, ok := quickResult(body); ok {
		return Reply{Result: result}, nil
	}
	return r, json.Unmarshal(body, &r)
}

// AppendResult appends the body of an answer with a result, which must be JSON.
func AppendResult(dst, result []byte) []byte {
	dst = append(dst, `{"result":`...)
	return append(append(dst, result...), '}')
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
	// Node is the node that says so, if it is not the one that was asked.
	Node string `json:"node,omitempty"`

	// Of RemoteKind: what was raised there.
	Type  string            `json:"type,omitempty"`
	Args  []json.RawMessage `json:"args,omitempty"`
	Trace string            `json:"trace,omitempty"` // only for callers that hold the capability "trace"

	Problems []Problem `json:"problems,omitempty"` // of samples that were not recorded

	Why     string          `json:"why,omitempty"`     // of a refusal of control, for programs: held, reserved, conflict, …
	Holders json.RawMessage `json:"holders,omitempty"` // who stands in the way; a list of answer.Holder
}

// Problem is what is wrong with one of several things that were sent.
type Problem struct {
	Index   int    `json:"index"` // from 0
	Message string `json:"message"`
}

// Error returns what went wrong, in words.
func (f *Failure) Error() string { return f.Message }

// Method describes a method of an agent, as inspect answers it.
type Method struct {
	Name   string  `json:"name"`
	Doc    string  `json:"doc"`
	Params []Param `json:"params"`
	Result string  `json:"result"`          // its type, in words; "" if nobody said
	Needs  string  `json:"needs,omitempty"` // the capability that callers must hold; "" for none
}

// Param describes an argument of a method.
type Param struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`              // in words; "" if nobody said
	Default json.RawMessage `json:"default,omitempty"` // nil: it must be given
	Kind    string          `json:"kind"`              // "positional", "keyword", "either", "rest"
}

// The kinds of arguments.
const (
	PositionalParam = "positional"
	KeywordParam    = "keyword"
	EitherParam     = "either" // by place or by name
	RestParam       = "rest"   // any more of them
)
