// Package agent supervises agents: programs in their own processes that use the bus with their own identity. It installs them, starts
// them with few rights, monitors and limits them, restarts them when they end, and stores their output. It knows neither the bus nor the
// registry of identities: node passes it functions.
package agent

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"voltbus/agent/journal"
	"voltbus/fault"
)

// Isolation tells how far agents are isolated from the rest of the machine.
type Isolation string

// The levels of isolation.
const (
	Auto    Isolation = "auto"    // all that this machine supports
	Require Isolation = "require" // the same, but no agent starts if nothing is supported
	Off     Isolation = "off"     // none, for experiments
)

// State is what an agent's process is doing.
type State string

// The states.
const (
	Stopped    State = "stopped"
	Starting   State = "starting"    // its process runs, but has not reported yet
	Running    State = "running"     // it has reported, or has run for a while
	BackingOff State = "backing-off" // it ended, and is restarted after a pause
	Failed     State = "failed"      // it ended, and its policy does not restart it
	Stopping   State = "stopping"    // it was asked to end
	Elsewhere  State = "elsewhere"   // another replica has the right to run it
)

// Restart tells when a process that ended by itself is restarted.
type Restart string

// The policies.
const (
	Always    Restart = "always"
	OnFailure Restart = "on-failure" // not after exit code 0
	Never     Restart = "never"
)

// Autostart tells what happens to an agent when the node starts.
type Autostart string

// The policies.
const (
	AsBefore Autostart = ""         // it runs if it was running when the node stopped
	Enabled  Autostart = "enabled"  // it is started, even if it was stopped
	Disabled Autostart = "disabled" // it is not started
)

// Priorities tell the order of starts: from 0, first, to 99.
const (
	DefaultPriority = 50
	MaxPriority     = 99
)

// End describes how a process ended.
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
	Processes int     `json:"processes"`  // number of processes
	MaxMemory int64   `json:"max_memory"` // largest memory seen since its start, in bytes
}

// Status is the state of an agent at one moment.
type Status struct {
	Record
	State    State      `json:"state"`
	Since    time.Time  `json:"since"`
	Failures int        `json:"failures"`             // ends in a row
	Next     *time.Time `json:"next_start,omitempty"` // during back-off
	Text     string     `json:"text,omitempty"`       // a message for people
	Usage    Usage      `json:"usage"`
	Last     *End       `json:"last_end,omitempty"`
	Isolated []string   `json:"isolation"`       // the means that isolate it
	Owner    string     `json:"owner,omitempty"` // the replica that has the right to run it, if it is Elsewhere and known
	Crashes  []string   `json:"crashes,omitempty"`
	// Raised counts the exceptions that it logged in the last minutes.
	Raised journal.Raised `json:"-"`
}

// Right is the right to run an agent, which one replica has at a time.
type Right interface {
	// Hold returns a context that ends with the right of this node; nil while it does not have it.
	Hold() context.Context
	// Left returns how long this node has it at least, if nothing prolongs it; 0 if it does not have it.
	Left() time.Duration
	// Owner returns the name of the replica that has it, as far as is known; "" for none.
	Owner() string
	// Changed returns a channel that is closed when Hold or Owner may have changed.
	Changed() <-chan struct{}
}

const maxName = 64

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// CheckName returns what is wrong with an agent's name.
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
