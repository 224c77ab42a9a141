package node

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"voltbus/control"
	"voltbus/internal/plural"
	"voltbus/operation/declared"
	"voltbus/presence"
)

// The alert of the node itself about points that do not have what they should have.
const (
	ownAlerts  = "node"
	amissAlert = "control"
	namesAmiss = 5 // points that it names
)

// aboutAlerts says how what is asked about alerts is done.
func aboutAlerts(n *Node, p *declared.Parts) {
	p.Alerts.Room, p.Alerts.Tell, p.Alerts.Own = n.presence, n.bus.Notify, ownAlerts
	p.Alerts.Online = func(agent string) bool { _, is := n.bus.Present()[agent]; return is }
	p.Alerts.Look = func(key string) {
		if n.desk != nil && key == amissAlert {
			n.tellAmiss(n.desk.Amiss())
		}
	}
}

// tellAmiss opens, changes or closes the alert about points that do not have what they should have.
func (n *Node) tellAmiss(list []control.Amiss) {
	n.amiss.take(list, now())
	message := struct {
		Text     string            `json:"text,omitempty"`
		Severity presence.Severity `json:"severity,omitempty"`
		Cleared  bool              `json:"cleared,omitempty"`
	}{Text: amissText(list), Severity: presence.Warning, Cleared: len(list) == 0}
	text, err := json.Marshal(message)
	if err == nil {
		err = n.presence.Alert(ownAlerts, amissAlert, text)
	}
	if err != nil {
		n.log.Warn("an alert cannot be raised", slog.String("alert", amissAlert), slog.Any("err", err))
	}
}

// amissText says which points do not have what they should have; "" if there are none.
func amissText(list []control.Amiss) string {
	if len(list) == 0 {
		return ""
	}
	names := make([]string, 0, namesAmiss+1)
	for i, a := range list {
		if i == namesAmiss {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", a.Point, a.Output))
	}
	return fmt.Sprintf("%s %s not have what %s set to: %s; see who holds them, and the device", plural.Of(len(list), "point"),
		plural.Word(len(list), "does", "do"), plural.Word(len(list), "it was", "they were"), strings.Join(names, ", "))
}
