package answer

import (
	"encoding/json"
	"fmt"
)

// Methods are the methods that an agent offers on the bus, as it describes them. Its strings are untrusted.
type Methods struct {
	Methods []Method `json:"methods"`
}

// Method is one method of an agent.
type Method struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Params []Param  `json:"params"`
	Result string   `json:"result" doc:"Its type, in words"`
	Needs  []string `json:"needs,omitempty" doc:"Capabilities that other agents must hold to call it"`
}

// Param is an argument of a method.
type Param struct {
	Name    string          `json:"name"`
	Type    string          `json:"type" doc:"In words; empty if nobody said"`
	Default json.RawMessage `json:"default,omitempty" doc:"Left out if it must be given"`
	Kind    string          `json:"kind" api:"one-of=positional|keyword|either|rest"` // positional, keyword, either or rest
}

// CallResult is what a method returned.
type CallResult struct {
	Result json.RawMessage `json:"result" doc:"What the method returned"`
}

// Raised is what a method raised instead of returning. Its strings are untrusted.
type Raised struct {
	_ struct{} `doc:"What a method of an agent raised instead of an answer"`

	Type    string            `json:"type"` // such as ValueError
	Message string            `json:"message"`
	Args    []json.RawMessage `json:"args,omitempty"`
}

// RaisedError is what a method of an agent raised, as an error.
type RaisedError struct{ Raised }

// Error returns the type and message.
func (e *RaisedError) Error() string { return fmt.Sprintf("raised %s: %s", e.Type, e.Message) }
