// Package health collects the problems of a node from its parts, and lets package verdict judge them.
package health

import (
	"context"
	"time"

	"voltbus/agent"
	"voltbus/api/answer"
	"voltbus/audit/head"
	"voltbus/catalog"
	"voltbus/control/mismatch"
	"voltbus/control/term"
	"voltbus/device"
	"voltbus/history"
	"voltbus/history/ledger"
	"voltbus/identity/registry"
	"voltbus/operation/alarms"
	"voltbus/operation/configuration"
	"voltbus/presence"
	"voltbus/recorder"
	"voltbus/sink"
	"voltbus/uplink/enrol"
	"voltbus/uplink/sender"
	"voltbus/uplink/shape"
	"voltbus/verdict"
)

// OwnAlerts is the name under which the node raises its own alerts.
const OwnAlerts = "node"

// Parts are the parts whose health is collected.
type Parts struct {
	Started    time.Time
	Recorder   *recorder.Recorder
	Account    *ledger.Ledger
	History    *history.History
	Sink       *sink.Sink // nil for a node without a store
	Heads      *head.Heads
	Control    *term.Controller // nil for an idle node
	Mismatch   *mismatch.Alert
	Fleet      *device.Fleet
	Presence   *presence.AgentHealth
	Agents     *registry.Agents
	Supervisor *agent.Supervisor // nil for a node that runs no agents
	Parent     *enrol.Parent
	Sender     *sender.Sender
	Settings   *configuration.Part // nil for a node without a file

	Alarms   func() verdict.Alarming     // nil for an idle node
	Online   func() map[string]time.Time // clients on the bus, and since when
	Files    func() []verdict.File       // small files that were set aside
	Damage   func() *catalog.Damage      // of the catalogue; nil for none
	Metering func() []verdict.File       // what is wrong with the metering system
	MQTT     func() error                // why the broker cannot store its data; nil if it can
	Delivery func() map[string]string    // problems of delivering meter readings, by subject; nil for a node that delivers none
	Replicas func() *verdict.Replicas    // nil for a node alone
	Children func() []verdict.Child
	Now      func() time.Time

	AlarmsBelow func() ([]alarms.Alarm, []alarms.NodeAlarms) // of descendants, as far as they are known
}

// Health reports the health of a node. It is safe for concurrent use.
type Health struct{ parts Parts }

// New returns the health of a node.
func New(p Parts) *Health { return &Health{parts: p} }

// Health returns the health of the node, for the caller.
func (h *Health) Health(ctx context.Context) answer.Health {
	v := h.Verdict(ctx)
	all := v.Concerns
	out := answer.Health{
		Status: Status(all), Level: string(v.Level), Verdict: v.Level.Word(), Started: h.parts.Started, Summary: v.Sentence, Counts: &v.Counts,
		Concerns: make([]answer.Concern, len(all)),
	}
	for i := range all {
		out.Concerns[i] = shownConcern(&all[i])
	}
	for _, name := range verdict.Parts() {
		if !h.has(name) {
			continue
		}
		p := answer.Part{Name: string(name), Status: "ok"}
		if err := partTrouble(all, name); err != nil {
			p.Status, p.Reason = "degraded", err.Error()
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// Status is the status of a node with such concerns: ok or degraded.
func Status(concerns []verdict.Concern) string {
	if len(concerns) > 0 {
		return "degraded"
	}
	return "ok"
}

// has reports whether this node has a part.
func (h *Health) has(part verdict.Part) bool {
	switch part {
	case verdict.Cluster:
		return h.parts.Replicas() != nil
	case verdict.Store:
		return h.parts.Sink != nil
	case verdict.Meters:
		return h.parts.Delivery() != nil
	case verdict.Alarms:
		return h.parts.Alarms != nil
	case verdict.Control:
		return h.parts.Control != nil
	case verdict.Uplink:
		_, member := h.parts.Parent.Current()
		return member
	case verdict.Configuration:
		return h.parts.Settings != nil
	default:
		return true
	}
}

func shownConcern(c *verdict.Concern) answer.Concern {
	return answer.Concern{
		Part: string(c.Part), Severity: string(c.Severity), Subject: c.Subject, Sentence: c.Sentence, Kind: c.Kind,
		Since: shape.Moment(c.Since.UTC()), Link: c.Link,
	}
}
