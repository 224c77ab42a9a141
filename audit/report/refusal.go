package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"voltbus/audit"
	"voltbus/broker"
	"voltbus/bus"
	"voltbus/bus/permit"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/admission"
	"voltbus/service"
	"voltbus/uplink/receiver"
	"voltbus/wire"
)

// tried is a refused attempt, with the missing capability.
type tried struct {
	Tried   string `json:"tried"`
	Missing string `json:"missing,omitempty"`
}

// Violation reports what a connection of the bus tried and may not.
func (r *Reporter) Violation(v bus.Violation) {
	verb, result := "subscribe", "refused by the bus"
	if v.Publish {
		verb = "publish"
	}
	missing := wire.Capability(v.Subject, v.Publish)
	if missing != "" {
		result = "missing: " + missing
	}
	if v.Flood != "" {
		verb, result = "flood", "cut off: "+v.Flood
	}
	if v.Conflict != "" {
		verb, result = "connect twice", "kept aside: "+v.Conflict
	}
	switch v.Quarantine {
	case permit.QuarantineReplaced:
		verb = "connect with a replaced key"
	case permit.QuarantineExpired:
		verb = "connect with an expired bundle"
	}
	detail, _ := json.Marshal(struct {
		tried
		Key     string `json:"key"`
		Count   uint64 `json:"count"`
		Address string `json:"address,omitempty"`
	}{tried{verb, missing}, v.Key, v.Count, v.Address}) // texts and a number
	r.opts.Audit.Offer(audit.Entry{Actor: onBus(v.Name), Action: "refused", Subject: v.Subject, Outcome: result, Detail: detail})
}

// MQTT reports what an MQTT client tried and may not. The name with which one that is not let in would connect is only
// what it says, so that nobody writes entries of others, or of as many actors as it likes.
func (r *Reporter) MQTT(refused broker.Refusal) {
	e := audit.Entry{
		Actor: "device:" + clip(refused.Device), Action: "mqtt." + refused.Action, Subject: clip(refused.Topic),
		Outcome: "refused: " + clip(refused.Why) + " (from " + admission.ParseNetwork(refused.Address).String() + ")", Time: r.opts.Now(),
	}
	if refused.Action == "connect" || refused.Device == "" {
		e.Actor, e.Subject = "unknown", clip(cmp.Or(refused.Device, refused.Topic, refused.Address))
	}
	r.opts.Audit.Offer(e)
}

// clip shortens what a stranger sent.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 256)], "") }

// Control reports a refused command.
func (r *Reporter) Control(refused access.Refusal) {
	r.opts.Audit.Offer(audit.Entry{
		Actor: refused.Who, Action: refused.Action, Subject: refused.Subject, Outcome: "refused: " + refused.Err.Error(),
	})
}

// Agent reports what an agent was refused: by this node, which is what the caller tried, or by another agent, as that
// one says. Only its word is known for that, so it is what the agent that says so did.
func (r *Reporter) Agent(refused service.Refusal) {
	detail, err := json.Marshal(struct {
		Caller string          `json:"caller"`
		Method string          `json:"method"`
		Args   json.RawMessage `json:"args,omitempty"`
	}{refused.Caller, refused.Method, refused.Args})
	if err != nil { // the arguments were read as JSON
		detail = nil
	}
	subject := refused.Callee + ":" + refused.Method
	if refused.Callee == wire.NodeName {
		r.opts.Audit.Offer(audit.Entry{
			Actor: "agent:" + refused.Caller, Action: "refused", Subject: subject, Outcome: "missing: " + refused.Missing, Detail: detail,
		})
		return
	}
	r.opts.Audit.Offer(audit.Entry{
		Actor: "agent:" + refused.Callee, Action: "agent.refused", Subject: subject,
		Outcome: fmt.Sprintf("says that it refused %q, which lacks: %s", refused.Caller, refused.Missing), Detail: detail,
	})
}

// Blocks reports blocks that a child sent and that were not received.
func (r *Reporter) Blocks(refused receiver.Refusal) { r.child(&refused, "send blocks") }

// Descriptions reports points that a child described and that were not listed.
func (r *Reporter) Descriptions(refused receiver.Refusal) { r.child(&refused, "describe points") }

// child gathers what a child tried, and may not: it may have many origins, and invent more.
func (r *Reporter) child(refused *receiver.Refusal, verb string) {
	detail, _ := json.Marshal(tried{verb, refused.Missing}) // texts
	r.opts.Audit.Gather(audit.Entry{
		Actor: "child:" + refused.Child, Action: "refused", Subject: refused.Origin, Outcome: refused.Err.Error(), Detail: detail,
	})
}

// Live reports live messages that a child sent and that were not received.
func (r *Reporter) Live(child string, err error) {
	detail, _ := json.Marshal(tried{"send live messages", identity.MissingOf(err)}) // texts
	subject := "live messages"
	if f, is := errors.AsType[*fault.Error](err); is && f.Subject != "" {
		subject = f.Subject
	}
	r.opts.Audit.Gather(audit.Entry{Actor: "child:" + child, Action: "refused", Subject: subject, Outcome: err.Error(), Detail: detail})
}
