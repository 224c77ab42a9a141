package node

import (
	"strings"
	"testing"

	"voltbus/presence"
)

func TestHealthCountsOpenAlertsTheWorstFirst(t *testing.T) {
	alert := func(agent, text string, s presence.Severity) presence.Alert {
		return presence.Alert{Agent: agent, Key: text, Text: text, Severity: s}
	}
	if err := openAlerts([]presence.Alert{alert("a", "started", presence.Info), alert(ownAlerts, "control", presence.Warning)}); err != nil {
		t.Errorf("what informs, and what a part says itself: %v", err)
	}
	err := openAlerts([]presence.Alert{alert("a", "warm", presence.Warning), alert("b", "no flow", presence.Critical)})
	if err == nil || err.Error() != "2 alerts are open, such as critical of b: no flow" {
		t.Errorf("two alerts: %v", err)
	}
	if err := openAlerts([]presence.Alert{alert("a", "warm", presence.Warning)}); err == nil || !strings.HasPrefix(err.Error(), "1 alert is open") {
		t.Errorf("one alert: %v", err)
	}
}
