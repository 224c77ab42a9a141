package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
)

// The topics of free messages that every agent may send.
const (
	HealthTopic = "health"
	AlertTopic  = "alert" // + the alert's key
)

// Arguments is the body of a request. Either may be absent; an empty body has neither.
type Arguments struct {
	Args   []json.RawMessage          `json:"args,omitempty"`
	Kwargs map[string]json.RawMessage `json:"kwargs,omitempty"`
}

var errArguments = errors.New(`the body of a request is empty, or an object {"args":[…],"kwargs":{…}} with either or both`)

// ParseArguments parses the body of a request.
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

// Reply is the body of an answer: exactly one of the two.
type Reply struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// ParseReply parses the body of an answer. The result is a slice of body.
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

// RemoteKind is the kind of a Failure raised by the method itself.
const RemoteKind = "remote"

// Failure tells why a request was not answered with a result. It is an error, of its fault kind if the kind
// names one.
type Failure struct {
	Kind    string `json:"kind"` // a fault kind, or RemoteKind
	Message string `json:"message"`
	Subject string `json:"subject,omitempty"` // what it is about
	Missing string `json:"missing,omitempty"` // for a refusal: the missing capability, in the form of a grant
	// Node is the node that reports the failure, if not the called one.
	Node string `json:"node,omitempty"`

	// For RemoteKind: the exception.
	Type  string            `json:"type,omitempty"`
	Args  []json.RawMessage `json:"args,omitempty"`
	Trace string            `json:"trace,omitempty"` // only for callers that hold the capability "trace"

	Problems []Problem `json:"problems,omitempty"` // for samples that were not recorded

	Why     string          `json:"why,omitempty"`     // for a refusal of control, for programs: held, reserved, conflict, …
	Holders json.RawMessage `json:"holders,omitempty"` // the holders in the way; a list of answer.Holder
}

// Problem is the error of one of several items sent.
type Problem struct {
	Index   int    `json:"index"` // from 0
	Message string `json:"message"`
}

// Error returns the failure in words.
func (f *Failure) Error() string { return f.Message }

// Method describes a method of an agent, as returned by inspect.
type Method struct {
	Name   string  `json:"name"`
	Doc    string  `json:"doc"`
	Params []Param `json:"params"`
	Result string  `json:"result"`          // its type, in words; "" if unspecified
	Needs  string  `json:"needs,omitempty"` // the capability required of callers; "" for none
}

// Param describes an argument of a method.
type Param struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"`              // in words; "" if unspecified
	Default json.RawMessage `json:"default,omitempty"` // nil: it is required
	Kind    string          `json:"kind"`              // "positional", "keyword", "either", "rest"
}

// The kinds of arguments.
const (
	PositionalParam = "positional"
	KeywordParam    = "keyword"
	EitherParam     = "either" // positional or by name
	RestParam       = "rest"   // any number of further ones
)
