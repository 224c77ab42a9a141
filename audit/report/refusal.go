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

// Violation reports what a bus connection attempted without permission.
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
	}{tried{verb, missing}, v.Key, v.Count, v.Address}) // strings and a number cannot fail
	r.opts.Audit.Offer(audit.Entry{Actor: onBus(v.Name), Action: "refused", Subject: v.Subject, Outcome: result, Detail: detail})
}

// MQTT reports what an MQTT client attempted without permission. The name presented by a client that is not admitted
// is only its claim, so nobody can write entries of others, or of as many actors as they like.
func (r *Reporter) MQTT(refused broker.Refusal) {
	e := audit.Entry{
		Actor: "device:" + clip(refused.Device), Action: "mqtt." + refused.Action, Subject: clip(refused.Topic),
		Outcome: "refused: " + clip(refused.Why), Time: r.opts.Now(),
	}
	if refused.Address != "" {
		e.Outcome += " (from " + admission.ParseNetwork(refused.Address).String() + ")"
	}
	if refused.Action == "command" { // only the account of an application gets so far
		e.Actor = identity.Principal{Kind: identity.ApplicationKind, Name: clip(refused.Device)}.String()
	}
	if refused.Action == "connect" || refused.Device == "" {
		e.Actor, e.Subject = "unknown", clip(cmp.Or(refused.Device, refused.Topic, refused.Address))
	}
	r.opts.Audit.Offer(e)
}

// clip shortens received text.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 256)], "") }

// Control reports a refused command.
func (r *Reporter) Control(refused access.Refusal) {
	r.opts.Audit.Offer(audit.Entry{
		Actor: refused.Who, Action: refused.Action, Subject: refused.Subject, Outcome: "refused: " + refused.Err.Error(),
	})
}

// Agent reports a refusal to an agent: by this node, of what the caller attempted, or by another agent, as that agent
// reports it. The latter is known only by its word, so it is reported as an action of the reporting agent.
func (r *Reporter) Agent(refused service.Refusal) {
	detail, err := json.Marshal(struct {
		Caller string          `json:"caller"`
		Method string          `json:"method"`
		Args   json.RawMessage `json:"args,omitempty"`
	}{refused.Caller, refused.Method, refused.Args})
	if err != nil { // the arguments were decoded from JSON
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

// Blocks reports blocks that a child sent and that were refused.
func (r *Reporter) Blocks(refused receiver.Refusal) { r.child(&refused, "send blocks") }

// Descriptions reports points that a child described and that were refused.
func (r *Reporter) Descriptions(refused receiver.Refusal) { r.child(&refused, "describe points") }

// child sums up what a child attempted without permission: it may have many origins, and invent more.
func (r *Reporter) child(refused *receiver.Refusal, verb string) {
	detail, _ := json.Marshal(tried{verb, refused.Missing}) // strings cannot fail
	r.opts.Audit.Gather(audit.Entry{
		Actor: "child:" + refused.Child, Action: "refused", Subject: refused.Origin, Outcome: refused.Err.Error(), Detail: detail,
	})
}

// Live reports live messages that a child sent and that were refused.
func (r *Reporter) Live(child string, err error) {
	detail, _ := json.Marshal(tried{"send live messages", identity.MissingOf(err)}) // strings cannot fail
	subject := "live messages"
	if f, is := errors.AsType[*fault.Error](err); is && f.Subject != "" {
		subject = f.Subject
	}
	r.opts.Audit.Gather(audit.Entry{Actor: "child:" + child, Action: "refused", Subject: subject, Outcome: err.Error(), Detail: detail})
}
