// Package timeline says in sentences, for those who run a building, what happened: alarms, commands and their outcome, outages, restarts, changes,
// and who joined. What it knows stands in the audit log, so that it survives restarts and nobody can change it.
package timeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"voltbus/audit"
	"voltbus/identity"
)

// Kind is what an event is about.
type Kind string

// The kinds.
const (
	Alarms   Kind = "alarm"
	Commands Kind = "command"
	Outages  Kind = "outage" // of devices and nodes
	Restarts Kind = "restart"
	Changes  Kind = "change" // of what people and programs configured
	Agents   Kind = "agent"
	Access   Kind = "access" // accounts, and what was refused
)

// Kinds lists the kinds.
func Kinds() []Kind { return []Kind{Alarms, Commands, Outages, Restarts, Changes, Agents, Access} }

// Level is how much an event matters.
type Level string

// The levels.
const (
	Good Level = "good" // something is well again
	Info Level = "info"
	Warn Level = "warn"
	Bad  Level = "bad"
)

// Event is something that happened.
type Event struct {
	Number  uint64 // of its entry in the audit log
	Time    time.Time
	Kind    Kind
	Level   Level
	Who     string // such as person:ada; "node" for what the node did by itself
	Subject string // a point, a device, a node or a name
	Point   bool   // Subject is a point
	Text    string // a sentence
}

// entry is an entry of the audit log that becomes an event.
type entry struct {
	*audit.Entry

	detail detail
	failed bool
}

// detail is what sentences say of the detail of an entry; a field is its zero value where an entry has none.
type detail struct {
	Value     json.RawMessage `json:"value"`
	Reported  json.RawMessage `json:"reported"`
	Reason    string          `json:"reason"`
	Requester string          `json:"requester"`
	Cause     string          `json:"cause"`
	Priority  string          `json:"priority"`
	Before    string          `json:"before"`
	Version   string          `json:"version"`
	Text      string          `json:"text"`
	Note      string          `json:"note"`
	Devices   int             `json:"devices"`
	Lasted    string          `json:"lasted"`
}

// Of returns what an entry of the audit log tells those who run a building; false if it tells them nothing.
func Of(e *audit.Entry) (Event, bool) {
	x := entry{Entry: e}
	_ = json.Unmarshal(e.Detail, &x.detail) // what is not as expected is not said
	outcome := strings.TrimPrefix(e.Outcome, "repeated: ")
	x.failed = outcome != "ok" && outcome != "accepted" && outcome != "sent"
	tell, known := teller(e.Action)
	if !known {
		return Event{}, false
	}
	out := Event{Number: e.Seq, Time: e.Time, Who: e.Actor, Subject: e.Subject, Level: Info}
	tell(&x, &out)
	out.Text = strings.TrimSpace(out.Text)
	return out, out.Text != ""
}

// who names an actor.
func who(actor string) string {
	switch actor {
	case "node", "":
		return "The node"
	}
	kind, name, _ := strings.Cut(actor, ":")
	switch kind {
	case identity.PersonKind:
		return name
	case identity.AgentKind, identity.ScheduleKind, identity.ApplicationKind:
		return "The " + kind + " " + name
	}
	return actor
}

// value writes a value as people read it.
func value(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	switch string(raw) {
	case "":
		return "nothing"
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return string(raw)
}

// why is the reason why something failed, from an outcome such as "refused: is read-only".
func why(outcome string) string {
	for _, begins := range []string{"repeated: ", "refused: ", "failed: ", "not carried out: "} {
		outcome = strings.TrimPrefix(outcome, begins)
	}
	return outcome
}

// reason is a reason in brackets; "" for none.
func reason(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", text)
}
