package answer

import (
	"encoding/json"
	"time"
)

// Process is an agent installed on a node, which runs the agent's process.
type Process struct {
	Name      string          `json:"name"`
	State     string          `json:"state" api:"one-of=stopped|starting|running|backing-off|failed|stopping|elsewhere"`
	Owner     string          `json:"owner,omitempty" doc:"The replica that runs it, if that is another one"`
	Since     time.Time       `json:"since"`
	Text      string          `json:"text,omitempty" doc:"What a person should know"`
	Concern   string          `json:"concern,omitempty" doc:"What health says of it; absent if all is well"`
	Version   int             `json:"version"`
	Release   string          `json:"release,omitempty" doc:"The version that its makers gave it"`
	Title     string          `json:"title,omitempty"`
	Installed time.Time       `json:"installed"`
	Previous  []int           `json:"previous" doc:"Versions to go back to, the oldest first"`
	Priority  int             `json:"priority"`
	Autostart string          `json:"autostart" api:"one-of=|enabled|disabled" doc:"Empty: as it was"`
	PID       int             `json:"pid,omitempty"`
	Failures  int             `json:"failures" doc:"How often it ended in a row"`
	Next      *time.Time      `json:"next_start,omitempty"`
	Memory    int64           `json:"memory" doc:"Bytes resident, with all its processes"`
	CPU       float64         `json:"cpu" doc:"Processors, over the last second"`
	Processes int             `json:"processes"`
	Limit     int64           `json:"memory_limit" doc:"Bytes; 0 for the default of the node"`
	Isolation []string        `json:"isolation" doc:"Of user, landlock and seccomp"`
	LastEnd   *ProcessEnd     `json:"last_end,omitempty"`
	Crashes   []string        `json:"crashes" doc:"Names of the reports"`
	Wants     json.RawMessage `json:"wants,omitempty" api:"object" doc:"The grants that it wants"`
	Schema    json.RawMessage `json:"config_schema,omitempty" api:"object" doc:"JSON Schema of its configuration; not in lists"`
	Methods   json.RawMessage `json:"methods,omitempty" api:"objects" doc:"What it answers, as its package says; not in lists"`
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

// Processes are the installed agents, by name.
type Processes struct {
	Processes []Process `json:"processes"`
	Isolation []string  `json:"isolation" doc:"What this node can isolate agents by"`
	WhyNot    string    `json:"why_not,omitempty" doc:"Why agents have no users of their own here"`
}

// ProcessLog is what an agent printed, oldest first.
type ProcessLog struct {
	Entries []ProcessLine `json:"entries"`
}

// ProcessLine is a line that an agent printed, or a remark of the node about it.
type ProcessLine struct {
	Time    time.Time      `json:"time"`
	Level   string         `json:"level"`
	Stream  string         `json:"stream" api:"one-of=stdout|stderr|node"` // stdout, stderr or node
	Logger  string         `json:"logger,omitempty"`
	Message string         `json:"message"`
	Extra   map[string]any `json:"extra,omitempty"`
}

// ProcessCrash is the report of an unexpected end.
type ProcessCrash struct {
	ProcessEnd
	Agent     string        `json:"agent"`
	Version   int           `json:"version"`
	Limit     int64         `json:"memory_limit"`
	MaxMemory int64         `json:"max_memory" doc:"Most bytes that were seen"`
	Lines     []ProcessLine `json:"lines"`
}
