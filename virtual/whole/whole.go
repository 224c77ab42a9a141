// Package whole is what a world and the process of its whole nodes tell each other, a line of JSON each.
package whole

import (
	"encoding/json"
	"time"
)

// Hello begins a process: it runs the nodes, and answers at the start of the world with an empty Answer.
type Hello struct {
	Start  time.Time `json:"start"`
	Seed   uint64    `json:"seed"`
	Nodes  []Node    `json:"nodes"` // parents before their children
	Links  []Link    `json:"links"`
	Orders []Order   `json:"orders"` // by their moments
}

// Node is a whole node.
type Node struct {
	Name    string        `json:"name"`
	Parent  string        `json:"parent,omitempty"`
	Scan    time.Duration `json:"scan"`
	Devices []Device      `json:"devices"`
}

// Device is a model as a device with registers: Outputs are read, Commands written.
type Device struct {
	Path     string    `json:"path"`
	Outputs  []string  `json:"outputs"`
	Values   []float64 `json:"values"` // of the outputs, at the start
	Commands []string  `json:"commands"`
	Defaults []float64 `json:"defaults"` // of the commands
}

// Link is how a child reaches its parent: bytes are delayed and may be lost, which costs the time to send them again, and nothing passes during a cut.
type Link struct {
	Child  string        `json:"child"`
	Delay  time.Duration `json:"delay"`
	Jitter time.Duration `json:"jitter"`
	Loss   float64       `json:"loss"` // share of the packets, from 0 to 1
	Cuts   []Span        `json:"cuts"`
}

// Span is a stretch of time since the start of the world, without its end.
type Span struct {
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
}

// Order is a command that somebody gives to a node.
type Order struct {
	At    time.Duration `json:"at"`
	Node  string        `json:"node"`
	Point string        `json:"point"`
	Value float64       `json:"value"`
	Level int           `json:"level"`
	Lease time.Duration `json:"lease"` // 0: until the end
}

// Grant lets the process go on.
type Grant struct {
	To     time.Duration        `json:"to"`               // since the start of the world
	Values map[string][]float64 `json:"values,omitempty"` // by the paths of devices: their outputs from now on
	Report bool                 `json:"report,omitempty"` // compare histories, instead
}

// Answer says what happened until the moment that was granted.
type Answer struct {
	Writes []Write `json:"writes,omitempty"`
	Report *Report `json:"report,omitempty"`
	Error  string  `json:"error,omitempty"`
}

// Write is a command that reached a device.
type Write struct {
	At    time.Duration `json:"at"`
	Point string        `json:"point"`
	Value float64       `json:"value"`
}

// Report is what the nodes have.
type Report struct {
	Nodes    []NodeReport  `json:"nodes"`
	Events   []Event       `json:"events"`   // of the audit logs, without requests between nodes, the oldest first
	Settled  time.Duration `json:"settled"`  // when parents had what their children have, since the start of the world
	Resident uint64        `json:"resident"` // bytes of memory of the process
}

// NodeReport is what a node has of the readings between the start of the world and the end of the run.
type NodeReport struct {
	Name    string `json:"name"`
	Parent  string `json:"parent,omitempty"`
	Samples uint64 `json:"samples"` // of its own devices
	Above   uint64 `json:"above"`   // of them at the parent, with equal time, value and quality
	Missing uint64 `json:"missing"` // of them not at the parent
	Content string `json:"content"` // a hash of points, times, values and qualities of its own devices
}

// Event is an entry of the audit log of a node.
type Event struct {
	At      time.Duration   `json:"at"`
	Node    string          `json:"node"`
	Actor   string          `json:"actor"`
	Action  string          `json:"action"`
	Subject string          `json:"subject,omitempty"`
	Outcome string          `json:"outcome"`
	Detail  json.RawMessage `json:"detail,omitempty"`
}
