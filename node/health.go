package node

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"voltbus/api/answer"
	"voltbus/device"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/presence"
)

// Health implements api.Health.
func (n *Node) Health(ctx context.Context) answer.Health {
	h := answer.Health{Status: "ok", Started: n.started}
	part := func(name string, err error) {
		p := answer.Part{Name: name, Status: "ok"}
		if err != nil {
			p.Status, p.Reason = "degraded", err.Error()
			h.Status = "degraded"
		}
		h.Parts = append(h.Parts, p)
	}
	lanes := n.recorder.Lanes()
	part("recorder", lanes[0].Paused)
	if n.sink != nil {
		part("store", n.sink.Stats().Err)
	}
	part("history", n.damage(ctx))
	part("audit", n.auditTrouble())
	if n.desk != nil {
		part("control", n.controlTrouble())
	}
	offline, total := 0, 0
	for _, d := range n.fleet.Devices() {
		total++
		if d.Status == device.Offline || d.Status == device.Hung {
			offline++
		}
	}
	var silent error
	if offline > 0 {
		silent = fmt.Errorf("%d of %s %s not answer; the device list says why", offline, plural.Of(total, "device"), plural.Word(offline, "does", "do"))
	}
	part("devices", silent)
	part("registers", unreadable(n.fleet.Devices()))
	part("agents", n.agentTrouble())
	part("alerts", openAlerts(n.presence.List()))
	part("approvals", n.waitingChildren())
	recorded := uint64(0)
	for _, s := range lanes {
		recorded += s.Acknowledged
	}
	h.Summary = fmt.Sprintf("%d of %s answer; %s recorded", total-offline, plural.Of(total, "device"), plural.Of(recorded, "sample"))
	return h
}

// unreadable says which devices answer, but not for all of their points.
func unreadable(devices []device.State) error {
	var first string
	count := 0
	for i := range devices {
		if d := &devices[i]; d.Problem != "" {
			if count++; count == 1 {
				first = fmt.Sprintf("%s: %s", d.Path, d.Problem)
			}
		}
	}
	switch count {
	case 0:
		return nil
	case 1:
		return errors.New(first)
	}
	return fmt.Errorf("%d devices answer, but not for all points; %s; the device list has the others", count, first)
}

// agentTrouble says which agents fail, or say that they do.
func (n *Node) agentTrouble() error {
	all, failing := n.failingAgents()
	if len(failing) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s %s not work: %s; voltbus agent list says why", len(failing), plural.Of(all, "agent"),
		plural.Word(len(failing), "does", "do"), strings.Join(firstOf(failing), ", "))
}

// openAlerts says which alerts of agents are open. Those that only inform do not count, nor those of the node itself,
// which its parts tell.
func openAlerts(list []presence.Alert) error {
	var first *presence.Alert
	count := 0
	for i := range list {
		a := &list[i]
		if a.Severity == presence.Info || a.Agent == ownAlerts {
			continue
		}
		if count++; first == nil || (first.Severity != presence.Critical && a.Severity == presence.Critical) {
			first = a
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%s %s open, such as %s of %s: %s", plural.Of(count, "alert"), plural.Word(count, "is", "are"),
		first.Severity, first.Agent, first.Text)
}

// waitingChildren says which nodes wait for somebody to approve them.
func (n *Node) waitingChildren() error {
	var waiting []string
	for _, c := range n.children.List() {
		if c.State == identity.ChildPending {
			waiting = append(waiting, c.Name)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s for approval: %s; see voltbus children", plural.Of(len(waiting), "node"),
		plural.Word(len(waiting), "waits", "wait"), strings.Join(firstOf(waiting), ", "))
}

// firstOf returns the first few names, and says that there are more.
func firstOf(names []string) []string {
	if len(names) > namesAmiss {
		return append(names[:namesAmiss:namesAmiss], "…")
	}
	return names
}

// damage says what of the history cannot be read.
func (n *Node) damage(ctx context.Context) error {
	if n.store == nil {
		return nil
	}
	stats, err := n.store.Stats(ctx)
	if err == nil && len(stats.Damaged) > 0 {
		err = fmt.Errorf("%s of the history %s damaged and set aside; the ledger says which",
			plural.Of(len(stats.Damaged), "piece"), plural.Word(len(stats.Damaged), "is", "are"))
	}
	return err
}
