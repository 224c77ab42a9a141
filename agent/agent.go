// Package agent supervises agents: programs in their own processes that use the bus with their own identity. It installs them, starts
// them with few rights, watches and bounds them, starts them again when they end, and keeps what they print. It knows neither the bus nor
// the registry of identities: node hands it functions.
package agent

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"voltbus/agent/journal"
	"voltbus/fault"
)

// Isolation says how much agents are kept from the rest of the machine.
type Isolation string

// The ways.
const (
	Auto    Isolation = "auto"    // all that this machine can do
	Require Isolation = "require" // the same, and no agent starts if that is nothing
	Off     Isolation = "off"     // none, for trying things out
)

// State is what an agent's process is doing.
type State string

// The states.
const (
	Stopped    State = "stopped"
	Starting   State = "starting"    // its process runs, and has not been heard of yet
	Running    State = "running"     // it was heard of, or has run for a while
	BackingOff State = "backing-off" // it ended, and is started again after a pause
	Failed     State = "failed"      // it ended, and its policy is not to start it again
	Stopping   State = "stopping"    // it was asked to end
)

// Restart says when a process that ended by itself is started again.
type Restart string

// The policies.
const (
	Always    Restart = "always"
	OnFailure Restart = "on-failure" // not after exit code 0
	Never     Restart = "never"
)

// Autostart says what happens to an agent when the node starts.
type Autostart string

// The ways.
const (
	AsBefore Autostart = ""         // it runs if it ran when the node ended
	Enabled  Autostart = "enabled"  // it is started, even if it was stopped
	Disabled Autostart = "disabled" // it is not started
)

// Priorities say who is started first: from 0, first, to 99.
const (
	DefaultPriority = 50
	MaxPriority     = 99
)

// End says how a process ended.
type End struct {
	At     time.Time     `json:"at"`
	Reason string        `json:"reason"` // stopped, exited, killed, memory, hung or unable (to start)
	Text   string        `json:"text"`   // the same as a sentence
	Code   int           `json:"code"`   // the exit code, -1 after a signal
	Signal string        `json:"signal,omitempty"`
	Uptime time.Duration `json:"uptime"`
}

// Usage is what a process and its children use.
type Usage struct {
	Memory    int64   `json:"memory"`     // bytes resident
	CPU       float64 `json:"cpu"`        // processors, over the last second
	Processes int     `json:"processes"`  // how many there are
	MaxMemory int64   `json:"max_memory"` // most bytes that were seen since its start
}

// Status describes an agent at a moment.
type Status struct {
	Record
	State    State      `json:"state"`
	Since    time.Time  `json:"since"`
	Failures int        `json:"failures"`             // how often it ended in a row
	Next     *time.Time `json:"next_start,omitempty"` // while it backs off
	Text     string     `json:"text,omitempty"`       // what a person should know
	Usage    Usage      `json:"usage"`
	Last     *End       `json:"last_end,omitempty"`
	Isolated []string   `json:"isolation"` // what it is isolated by
	Crashes  []string   `json:"crashes,omitempty"`
	// Raised counts the exceptions that it logged in the last minutes.
	Raised journal.Raised `json:"-"`
}

const maxName = 64

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckName says what is wrong with the name of an agent.
func CheckName(name string) error {
	if len(name) > maxName || !nameForm.MatchString(name) {
		return fault.E("agent.CheckName", fault.Invalid, "name", fmt.Errorf(
			"%.70q is not a name; write up to %d letters, digits, dots, - and _, beginning with a letter or digit", name, maxName))
	}
	if name == "node" {
		return fault.E("agent.CheckName", fault.Invalid, "name", errors.New("node is the name of the node itself; choose another"))
	}
	return nil
}
