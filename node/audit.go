package node

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"voltbus/bus/permit"

	"voltbus/audit"
	"voltbus/bus"
	"voltbus/uplink/fleet"
	"voltbus/wire"
)

func (n *Node) openAudit(ctx context.Context) error {
	var err error
	n.links = fleet.NewLinks(n.tellOfLink)
	if n.audit, err = audit.Open(ctx, n.opts.Config.Node.Data, now); err != nil {
		return err
	}
	bound := n.opts.Config.Audit
	n.audit.Bound(audit.Bound{MaxBytes: int64(bound.MaxBytes), Keep: bound.Keep})
	return nil
}

// tellStart writes into the audit log, once, that the node runs, and how it ended before.
func (n *Node) tellStart(ctx context.Context) {
	n.begun.Do(func() { n.tellBefore(ctx) })
}

func (n *Node) tellBefore(ctx context.Context) {
	before, s := "stopped", n.audit.Status()
	switch {
	case s.Head.Seq == 0 && s.Damage == "":
		before = "never ran"
	case !s.Clean:
		before = "was killed, or the power failed"
	}
	if n.opts.WentBack != nil {
		defer n.settings.TellBack(ctx, n.opts.WentBack, nil)
	}
	n.tell(ctx, n.deed("node.start", nil, map[string]string{"version": n.opts.Version.Version, "before": before}))
	n.tellDamaged(ctx)
}

// tell writes what the node does by itself into the audit log; one that only looks at its data does
// nothing. Where that is not possible the node goes on, and its health says so.
func (n *Node) tell(ctx context.Context, e audit.Entry) {
	if n.opts.Idle {
		return
	}
	if err := n.audit.Append(context.WithoutCancel(ctx), e); err != nil {
		n.log.WarnContext(ctx, "audit log is not written", slog.String("action", e.Action), slog.Any("err", err))
	}
}

// deed is an entry of what the node does by itself.
func (n *Node) deed(action string, err error, detail any) audit.Entry {
	e := audit.Entry{Actor: "node", Action: action, Subject: n.opts.Config.Node.Name, Outcome: "ok"}
	if err != nil {
		e.Outcome = err.Error()
	}
	if detail != nil {
		e.Detail, _ = json.Marshal(detail) // texts and lists of them
	}
	return e
}

// auditTrouble says what of the audit log is damaged, or why it cannot be written.
func (n *Node) auditTrouble() error {
	s := n.audit.Status()
	switch {
	case s.Err != nil:
		return s.Err
	case s.Damage != "":
		return errors.New("the audit log is damaged: " + s.Damage + "; voltbus audit verify says more")
	}
	return n.heads.trouble()
}

// refusedByBus offers the audit log what a connection tried and may not.
func (n *Node) refusedByBus(v bus.Violation) {
	verb, outcome := "subscribe", "refused by the bus"
	if v.Publish {
		verb = "publish"
	}
	missing := wire.Capability(v.Subject, v.Publish)
	if missing != "" {
		outcome = "missing: " + missing
	}
	if v.Flood != "" {
		verb, outcome = "flood", "cut off: "+v.Flood
	}
	if v.Conflict != "" {
		verb, outcome = "connect twice", "kept aside: "+v.Conflict
	}
	switch v.Quarantine {
	case permit.QuarantineReplaced:
		verb = "connect with a replaced key"
	case permit.QuarantineExpired:
		verb = "connect with an expired bundle"
	}
	detail, _ := json.Marshal(struct {
		Tried   string `json:"tried"`
		Missing string `json:"missing,omitempty"`
		Key     string `json:"key"`
		Count   uint64 `json:"count"`
		Address string `json:"address,omitempty"`
	}{verb, missing, v.Key, v.Count, v.Address}) // texts and a number
	n.audit.Offer(audit.Entry{Actor: busActor(v.Name), Action: "refused", Subject: v.Subject, Outcome: outcome, Detail: detail})
}
