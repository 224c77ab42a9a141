package answer

import (
	"encoding/json"
	"fmt"
)

// Methods are what an agent answers on the bus, as it tells itself. Its texts are hostile.
type Methods struct {
	Methods []Method `json:"methods"`
}

// Method is one method of an agent.
type Method struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Params []Param  `json:"params"`
	Result string   `json:"result"`          // its type, in words; "" if nobody said
	Needs  []string `json:"needs,omitempty"` // capabilities that callers must hold
}

// Param is an argument of a method.
type Param struct {
	Name    string          `json:"name"`
	Type    string          `json:"type"` // in words; "" if nobody said
	Default json.RawMessage `json:"default,omitempty"`
	Kind    string          `json:"kind"` // positional, keyword, either or rest
}

// CallResult is what a method returned.
type CallResult struct {
	Result json.RawMessage `json:"result"`
}

// Raised is what a method raised instead of an answer. Its texts are hostile.
type Raised struct {
	Type    string            `json:"type"` // such as ValueError
	Message string            `json:"message"`
	Args    []json.RawMessage `json:"args,omitempty"`
}

// RaisedError is what a method of an agent raised, as an error.
type RaisedError struct{ Raised }

// Error returns type and message.
func (e *RaisedError) Error() string { return fmt.Sprintf("raised %s: %s", e.Type, e.Message) }
