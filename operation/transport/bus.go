package transport

import (
	"encoding/json"

	"voltbus/api/answer"
	"voltbus/operation"
)

// The arguments of requests about the bus itself. Package service decodes them.
type (
	// Greeting is what an agent reports about itself.
	Greeting struct {
		SDK     string `json:"sdk" api:"max=200"`
		PID     int    `json:"pid"`
		Host    string `json:"host" api:"max=200"`
		Version string `json:"version" api:"max=200"`
	}
	// Keeping holds samples to record.
	Keeping struct {
		Samples json.RawMessage `json:"samples" api:"required,schema=samples"`
		Key     string          `json:"key" doc:"A repeat with it is harmless"`
	}
	// Refusal is a request that an agent refused to a caller.
	Refusal struct {
		Method  string          `json:"method" api:"required"`
		From    string          `json:"from" api:"required"`
		Missing string          `json:"missing" api:"required" doc:"The capability"`
		Args    json.RawMessage `json:"args"`
	}
	// Listening subscribes to live messages.
	Listening struct {
		Pattern string   `json:"pattern" api:"required" doc:"Which points"`
		Cursor  string   `json:"cursor" doc:"Of the last answer; none to begin"`
		Wait    *float64 `json:"wait" api:"max=20,default=10" doc:"Seconds to wait for something"`
	}
	// Relayed is a request to another node.
	Relayed struct {
		Node    string                     `json:"node" api:"required" doc:"The name of another node of the tree"`
		Agent   string                     `json:"agent" api:"default=node" doc:"An agent there; node for the node itself"`
		Method  string                     `json:"method" api:"required"`
		Args    []json.RawMessage          `json:"args"`
		Kwargs  map[string]json.RawMessage `json:"kwargs"`
		Timeout float64                    `json:"timeout" api:"max=120,default=30" doc:"Seconds"`
	}
)

// connection says why package service handles requests about an agent's connection.
const connection = "it keeps up the connection of an agent, or is judged by what is asked over it; package service answers"

// OnBus lists the requests about the bus itself, by their names on it. Schemas in lower case are those of docs/formats/asyncapi.yaml.
func OnBus() []operation.Declared {
	return []operation.Declared{
		onBus[Greeting, answer.Hello]("hello", "hello", "Say who connected, and get the own standing. The first request on every connection", "{node, name, time, standing}"),
		onBus[Nothing, json.RawMessage]("inspect", "methods", "List the methods", "[{name, doc, params, result, needs}]"),
		onBus[Listening, json.RawMessage]("listen", "heard", "The live messages of points since the last answer, whose cursor is given; waits for some", "{cursor, messages, dropped, begun}"),
		onBus[Nothing, []answer.Peer]("peers", "", "The agents of this node, and how they are", "[{name, online, since, status, context, version}]"),
		onBus[Nothing, json.RawMessage]("ping", "pong", "Answer", `"pong"`),
		onBus[Keeping, json.RawMessage]("record", "kept", "Keep samples: when it answers they are on disk, all or none. A key makes a repeat harmless", "{accepted}"),
		onBus[Refusal, operation.None]("refused", "", "Tell of a request that was refused to a caller", "null"),
		onBus[Relayed, json.RawMessage]("remote", "", "Call a method of an agent of another node; the agent node is that node itself", "what the method returns"),
		onBus[Nothing, json.RawMessage]("standing", "standing", "The own grants, and what the callers are bound to", "{version, grants, callers}"),
	}
}

func onBus[In, Out any](method, schema, summary, result string) operation.Declared {
	return operation.Declare[In, Out](operation.Spec{
		Name: "bus." + method, Method: method, Schema: schema, Summary: summary, Result: result, Carried: connection,
	}).Declared()
}
