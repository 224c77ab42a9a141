package answer

import (
	"encoding/json"
	"time"

	"voltbus/identity"
)

// AgentClient is what an agent says of itself when it comes.
type AgentClient struct {
	SDK     string `json:"sdk"`
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	Version string `json:"version"`
}

// Hello is what the node answers to an agent that came.
type Hello struct {
	Node     string            `json:"node"`
	Name     string            `json:"name"`
	Time     time.Time         `json:"time"`
	Standing identity.Standing `json:"standing"`
}

// Recorded says how many samples are on disk.
type Recorded struct {
	Accepted int `json:"accepted"`
}

// Peer is an agent of the node.
type Peer struct {
	Name    string          `json:"name"`
	Online  bool            `json:"online"`
	Since   *time.Time      `json:"since"`             // when it connected; null if it is not online
	Status  string          `json:"status"`            // good, bad, starting, unknown, silent, offline
	Context json.RawMessage `json:"context,omitempty"` // why, as the agent says it
	Version string          `json:"version"`           // of the agent, as it says
	SDK     string          `json:"sdk"`
	Host    string          `json:"host"`
}

// Peers are the agents of the node, by name.
type Peers struct {
	Peers []Peer `json:"peers"`
}

// Alert is something that an agent wants people to know until it is over.
type Alert struct {
	Agent    string    `json:"agent"`
	Key      string    `json:"key"`
	Severity string    `json:"severity"` // info, warning, critical
	Text     string    `json:"text"`
	First    time.Time `json:"first"` // since when it is so
	Last     time.Time `json:"last"`  // when the agent said so last
	Count    int       `json:"count"` // how often it said so
}

// Alerts are the open alerts: the most severe first, of these the newest.
type Alerts struct {
	Alerts  []Alert `json:"alerts"`
	Refused uint64  `json:"refused"` // messages about alerts that were wrong or too many, since the node started
}
