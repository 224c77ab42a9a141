package node

import (
	"context"

	"voltbus/alarm/monitor"
	"voltbus/control/mismatch"
	"voltbus/health"
	"voltbus/identity"
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
	if p.Alarms.Now = now; n.monitor != nil {
		p.Analysis.Alarms, p.Analysis.Mail, p.Analysis.Log = n.monitor, monitor.ContactsOf(n.monitor).Mail, n.log
		n.reports = p.Analysis.Reports()
		p.Alarms.Monitor, p.Alarms.People, p.Alarms.AcknowledgeAlert, p.Alarms.Below = n.monitor, monitor.ContactsOf(n.monitor), p.Alerts.Seen, n.alarmsBelow.Alarms
	}
}

// openAlarms opens the alarms. A node that is opened to inspect its data has none.
func openAlarms(ctx context.Context, n *Node) (err error) {
	if n.opts.Idle {
		return nil
	}
	o := monitor.Options{
		Dir: n.opts.Config.Node.Data, Node: n.opts.Config.Node.Name, Blocks: n.blocks, Documents: n.docs, Points: n.catalog, Alerts: n.presence, Told: n.report.Alarm, Now: now, Log: n.log,
		Known: func(ctx context.Context, person string) (bool, error) {
			return identity.HasPerson(ctx, n.identity.Logins, person)
		},
		Publish: func(topic string, payload []byte) (int, bool) {
			if n.mqtt == nil {
				return 0, false
			}
			return n.mqtt.Announce(topic, payload), true
		},
	}
	if kept := n.history.Store(); kept != nil {
		o.Readings = kept
	}
	n.monitor, err = monitor.Open(ctx, o)
	return err
}

func startAlarms(n *Node, start func(name string, run func(context.Context) error)) {
	if n.monitor != nil {
		start("alarms", n.monitor.Run)
		start("alarms of descendants", n.alarmsBelow.Run)
		if n.reports != nil {
			start("reports", n.reports.Run)
		}
		start("outages", n.report.Outages(n.fleet.Devices).Run)
	}
}
