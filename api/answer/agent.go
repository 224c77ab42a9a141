package answer

import (
	"encoding/json"
	"time"

	"voltbus/identity/registry"
)

// AgentClient is what an agent reports about itself when it connects.
type AgentClient struct {
	SDK     string `json:"sdk"`
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	Version string `json:"version"`
}

// Hello is the node's answer to an agent that connects.
type Hello struct {
	Node     string               `json:"node"`
	Name     string               `json:"name"`
	Time     time.Time            `json:"time"`
	Standing registry.Permissions `json:"standing"`
}

// Recorded reports how many samples are on disk.
type Recorded struct {
	Accepted int `json:"accepted"`
}

// Peer is an agent of the node.
type Peer struct {
	Name    string          `json:"name"`
	Online  bool            `json:"online" doc:"It is connected"`
	Since   *time.Time      `json:"since" doc:"When it connected"`
	Status  string          `json:"status" api:"one-of=good|bad|starting|unknown|silent|offline" doc:"As it says itself; silent after three intervals without a word"`
	Context json.RawMessage `json:"context,omitempty" doc:"Why, in any form, as the agent says it"`
	Version string          `json:"version" doc:"Of the agent, as it says"`
	SDK     string          `json:"sdk"`
	Host    string          `json:"host"`
}

// Peers are the agents of the node, by name.
type Peers struct {
	Peers []Peer `json:"peers"`
}

// Alert is something that an agent wants people to know until it has cleared.
type Alert struct {
	Agent    string    `json:"agent" doc:"Who raised it"`
	Key      string    `json:"key" doc:"What it is about, as the agent calls it"`
	Severity string    `json:"severity" api:"one-of=info|warning|critical"` // info, warning, critical
	Text     string    `json:"text" doc:"For people"`
	First    time.Time `json:"first" doc:"Since when it is so"`
	Last     time.Time `json:"last" doc:"When the agent said so last"`
	Count    int       `json:"count" doc:"How often it said so"`

	Unacknowledged bool `json:"unacknowledged,omitempty" doc:"The device that it is of waits for somebody to acknowledge it"`
}

// Alerts are the open alerts: the most severe first, and the newest first among equals.
type Alerts struct {
	Alerts  []Alert `json:"alerts"`
	Refused uint64  `json:"refused" doc:"How many messages about alerts the node refused since it started, because they were wrong or an agent had too many open"`
}
