package node

import (
	"voltbus/control/mismatch"
	"voltbus/health"
	"voltbus/operation/declared"
)

// aboutAlerts connects the operations on alerts.
func aboutAlerts(n *Node, p *declared.Parts) {
	p.Alerts.Keeper, p.Alerts.Tell, p.Alerts.Own = n.presence, n.bus.Notify, health.OwnAlerts
	p.Alerts.Online = func(agent string) bool { _, is := n.bus.Present()[agent]; return is }
	p.Alerts.Look = func(key string) {
		if n.dispatcher != nil && key == mismatch.Key {
			n.mismatch.Update(n.dispatcher.MismatchedPoints())
		}
	}
}
