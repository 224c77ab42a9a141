package node

import (
	"context"

	"voltbus/control/mismatch"
	"voltbus/health"
	"voltbus/operation/declared"
)

// aboutAlerts connects the operations on alerts.
func aboutAlerts(n *Node, p *declared.Parts) {
	p.Alerts.Keeper, p.Alerts.Tell, p.Alerts.Own = n.presence, n.bus.Notify, health.OwnAlerts
	p.Alerts.Online = func(agent string) bool { _, is := n.bus.Present()[agent]; return is }
	n.alarms = n.fleet.Alarms(func(key string, message []byte) error { return n.presence.Alert(health.OwnAlerts, key, message) }, func() []string { return n.presence.Open(health.OwnAlerts) })
	p.Alerts.Waits, p.Alerts.Acknowledge = n.alarms.Waits, n.alarms.Acknowledge
	p.Alerts.Look = func(ctx context.Context, key string) {
		if key != mismatch.Key {
			n.alarms.Look(ctx, key)
			return
		}
		if n.dispatcher != nil {
			n.mismatch.Update(n.dispatcher.MismatchedPoints())
		}
	}
}
