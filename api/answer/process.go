package answer

import (
	"encoding/json"
	"time"
)

// Process is an agent that is installed on a node, which runs its process.
type Process struct {
	Name      string          `json:"name"`
	State     string          `json:"state"` // stopped, starting, running, backing-off, failed or stopping
	Since     time.Time       `json:"since"`
	Text      string          `json:"text,omitempty"`    // what a person should know
	Concern   string          `json:"concern,omitempty"` // what health says of it; "" if all is well
	Version   int             `json:"version"`
	Release   string          `json:"release,omitempty"` // the version that its makers gave it
	Title     string          `json:"title,omitempty"`
	Installed time.Time       `json:"installed"`
	Previous  []int           `json:"previous"` // versions to go back to, the oldest first
	Priority  int             `json:"priority"`
	Autostart string          `json:"autostart"` // enabled, disabled, or empty: as it was
	PID       int             `json:"pid,omitempty"`
	Failures  int             `json:"failures"` // how often it ended in a row
	Next      *time.Time      `json:"next_start,omitempty"`
	Memory    int64           `json:"memory"` // octets resident
	CPU       float64         `json:"cpu"`    // processors, over the last second
	Processes int             `json:"processes"`
	Limit     int64           `json:"memory_limit"` // octets; 0: the node's default
	Isolation []string        `json:"isolation"`    // user, landlock, seccomp
	LastEnd   *ProcessEnd     `json:"last_end,omitempty"`
	Crashes   []string        `json:"crashes"` // names of the reports
	Wants     json.RawMessage `json:"wants,omitempty"`
	Schema    json.RawMessage `json:"config_schema,omitempty"` // of one agent alone: of its configuration
	Methods   json.RawMessage `json:"methods,omitempty"`       // of one agent alone: as its package describes them
}

// ProcessEnd says how a process ended.
type ProcessEnd struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason" api:"one-of=stopped|exited|killed|memory|hung|unable"` // stopped, exited, killed, memory, hung or unable
	Text   string    `json:"text"`
	Code   int       `json:"code" doc:"The exit code, -1 after a signal"`
	Signal string    `json:"signal,omitempty"`
	Uptime float64   `json:"uptime" doc:"Seconds"`
}

// Processes are the agents that are installed, by name.
type Processes struct {
	Processes []Process `json:"processes"`
	Isolation []string  `json:"isolation" doc:"What this node can isolate agents by"`
	WhyNot    string    `json:"why_not,omitempty" doc:"Why agents have no users of their own here"`
}

// ProcessLog is what an agent printed, oldest first.
type ProcessLog struct {
	Entries []ProcessLine `json:"entries"`
}

// ProcessLine is a line that an agent printed, or that the node has to say of it.
type ProcessLine struct {
	Time    time.Time      `json:"time"`
	Level   string         `json:"level"`
	Stream  string         `json:"stream" api:"one-of=stdout|stderr|node"` // stdout, stderr or node
	Logger  string         `json:"logger,omitempty"`
	Message string         `json:"message"`
	Extra   map[string]any `json:"extra,omitempty"`
}

// ProcessCrash is the report of an end that nobody wanted.
type ProcessCrash struct {
	ProcessEnd
	Agent     string        `json:"agent"`
	Version   int           `json:"version"`
	Limit     int64         `json:"memory_limit"`
	MaxMemory int64         `json:"max_memory" doc:"Most octets that were seen"`
	Lines     []ProcessLine `json:"lines"`
}
