package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/agents"
	"voltbus/operation/alarms"
	"voltbus/operation/alerts"
	"voltbus/operation/analysis"
	"voltbus/operation/auditlog"
	"voltbus/operation/children"
	"voltbus/operation/cluster"
	"voltbus/operation/configuration"
	"voltbus/operation/control"
	"voltbus/operation/dashboards"
	"voltbus/operation/devices"
	"voltbus/operation/documents"
	"voltbus/operation/history"
	"voltbus/operation/judge"
	"voltbus/operation/lab"
	"voltbus/operation/ledger"
	"voltbus/operation/metering"
	"voltbus/operation/mqtt"
	"voltbus/operation/nodelog"
	"voltbus/operation/nodes"
	"voltbus/operation/parent"
	"voltbus/operation/people"
	"voltbus/operation/points"
	"voltbus/operation/processes"
	"voltbus/operation/schedules"
	"voltbus/operation/sinks"
	"voltbus/operation/sources"
	"voltbus/operation/timeline"
	"voltbus/operation/tokens"
)

// Parts carry out the operations of a node. A part that is not filled in answers that this node does not have it.
type Parts struct {
	Agents     agents.Part
	Alarms     alarms.Part
	Alerts     alerts.Part
	Analysis   analysis.Part
	Audit      auditlog.Part
	Children   children.Part
	Cluster    cluster.Part
	Settings   *configuration.Part // nil for a node without a file
	Control    control.Part
	Dashboards dashboards.Part
	Devices    devices.Part
	Documents  documents.Part
	History    history.Part
	Judge      judge.Part
	Lab        lab.Part
	Ledger     ledger.Part
	Metering   metering.Part
	MQTT       mqtt.Part
	Nodes      nodes.Part
	Log        nodelog.Part
	Parent     parent.Part
	People     people.Part
	Points     points.Part
	Processes  processes.Part
	Schedules  schedules.Part
	Sinks      sinks.Part
	Sources    sources.Part
	Timeline   timeline.Part
	Tokens     tokens.Part
}

type (
	// Supervisor runs the installed agents.
	Supervisor = processes.Supervisor
	// Mailing sends weekly reports by e-mail.
	Mailing = analysis.Mailing
	// Commander commands points in the name of schedules.
	Commander = schedules.Commander
)

// Operations lists the operations of the parts.
func (p *Parts) Operations() []operation.Bound {
	return slices.Concat(
		p.Settings.Operations(), p.Agents.Operations(), p.Alarms.Operations(), p.Alerts.Operations(), p.Analysis.Operations(), p.Audit.Operations(), p.Children.Operations(), p.Parent.Operations(), p.People.Operations(), p.Tokens.Operations(), p.Control.Operations(),
		p.Dashboards.Operations(), p.Devices.Operations(), p.Documents.Operations(), p.History.Operations(), p.Ledger.Operations(), p.Nodes.Operations(), p.Points.Operations(),
		p.Log.Operations(), p.Processes.Operations(), p.MQTT.Operations(), p.Cluster.Operations(), p.Sinks.Operations(), p.Judge.Operations(), p.Sources.Operations(), p.Metering.Operations(), p.Lab.Operations(), p.Schedules.Operations(), p.Timeline.Operations(),
	)
}
