package report

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"voltbus/audit"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/uplink/enrol"
	"voltbus/uplink/lineage"
	"voltbus/uplink/links"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// RemoteRequest reports a request that passed through this node. declared is the requested operation; nil for
// none. Requests of this node's users are reported by their operation.
func (r *Reporter) RemoteRequest(e *tree.Event, declared *operation.Declared) {
	q := e.Request
	if e.From == "" && !strings.HasPrefix(q.Caller, "agent:") {
		return
	}
	offer := r.opts.Audit.Offer
	if declared != nil && !declared.Changes() && q.Agent == wire.NodeName && e.Claimed == "" && !fault.Is(e.Err, fault.Refused) {
		if declared.Watched == "" || !e.Passed {
			return
		}
		offer = r.opts.Audit.Gather // a follower of a log asks every second
	}
	entry := audit.Entry{Actor: q.Caller, Action: "node.call", Subject: q.Call(), Outcome: outcome(e.Err)}
	if e.From != "" {
		entry.Actor, entry.Action = cmp.Or(q.For, "node:"+e.From), "node.answer"
		if e.Passed {
			entry.Action = "node.pass"
		}
	}
	if e.Claimed != "" {
		if entry.Actor = "node:" + e.From; fault.Is(e.Err, fault.Refused) {
			entry.Action = "node.forged"
		}
	}
	entry.Detail, _ = json.Marshal(struct { // strings cannot fail
		Caller  string   `json:"caller"`
		Path    []string `json:"path,omitempty"`
		By      string   `json:"by,omitempty"` // the neighbour
		Claimed string   `json:"claimed,omitempty"`
	}{q.Caller, q.Path, e.From, e.Claimed})
	offer(entry)
}

// RefusedNode reports a node of a child that is not admitted to the tree.
func (r *Reporter) RefusedNode(child string, refused lineage.Refused) {
	r.opts.Audit.Gather(audit.Entry{Actor: "child:" + child, Action: "node.refused", Subject: refused.Name, Outcome: refused.Why})
}

// Enrolment reports what a child did to become or stay one.
func (r *Reporter) Enrolment(ctx context.Context, d enrol.Entry) {
	e := audit.Entry{Actor: onBus(d.Who), Action: d.Action, Subject: d.Child, Outcome: outcome(d.Err)}
	e.Detail, _ = json.Marshal(struct { // strings cannot fail
		Fingerprint string `json:"fingerprint"`
		Invitation  string `json:"invitation,omitempty"`
		State       string `json:"state,omitempty"`
	}{d.Key, d.Invite, string(d.State)})
	r.append(ctx, e)
}

// onBus is the name of a bus caller in the audit log.
func onBus(name string) string {
	if child, ok := strings.CutPrefix(name, identity.ChildPrefix); ok {
		return "child:" + child
	}
	if id, ok := strings.CutPrefix(name, identity.InvitePrefix); ok {
		return "invitation:" + id
	}
	return "agent:" + name
}

// linkDetail is the audit detail of a link: strings and numbers.
type linkDetail struct {
	Address string     `json:"address,omitempty"`
	Key     string     `json:"fingerprint,omitempty"`
	Ended   uint64     `json:"ended,omitempty"`
	Back    uint64     `json:"returned,omitempty"`
	Since   *time.Time `json:"since,omitempty"`
	Up      *bool      `json:"connected,omitempty"`
}

// Link reports that a link to a parent or child was established or lost, or a sum of such events.
func (r *Reporter) Link(t links.Turn) {
	e := audit.Entry{Actor: "child:" + t.Neighbour, Action: "child.connected", Subject: t.Neighbour, Outcome: "ok"}
	detail := linkDetail{Address: t.Address, Key: t.Key, Ended: t.Lost, Back: t.Made}
	word := "connected"
	switch {
	case !t.Since.IsZero():
		word, e.Outcome = "flapped", flapped(&t)
		since := t.Since.UTC()
		detail.Since, detail.Up = &since, &t.Up
	case !t.Up:
		word, e.Outcome = "lost", t.Reason
	}
	e.Action = "child." + word
	if t.Above {
		e.Actor, e.Action = "node", "parent."+word
	}
	if detail != (linkDetail{}) {
		e.Detail, _ = json.Marshal(detail)
	}
	r.opts.Audit.Offer(e)
}

// flapped describes in words what happened to a link.
func flapped(t *links.Turn) string {
	var words []string
	for _, count := range []struct {
		word  string
		times uint64
	}{{"ended", t.Lost}, {"returned", t.Made}} {
		switch count.times {
		case 0:
		case 1:
			words = append(words, count.word+" once")
		default:
			words = append(words, fmt.Sprintf("%s %d times", count.word, count.times))
		}
	}
	text := strings.Join(words, " and ") + ", and is away now"
	if t.Up {
		text = strings.Join(words, " and ") + ", and is connected now"
	}
	if t.Reason != "" {
		text += "; the last end: " + t.Reason
	}
	return text
}
