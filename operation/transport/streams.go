package transport

import (
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/nodelog"
	"voltbus/operation/processes"
)

// The arguments.
type (
	// At names another node.
	At struct {
		Node string `json:"node" api:"max=64" doc:"The name of another node of the tree, which is asked instead of this one"`
	}
	// Live selects live messages.
	Live struct {
		Pattern []string          `json:"pattern" api:"max=32" doc:"May be repeated, up to 32 times: what any of them selects"`
		Unit    string            `json:"unit" api:"max=1024" doc:"Of the points, such as kW"`
		Tag     map[string]string `json:"tag" api:"max=16" doc:"name=value, repeated for several; an empty value stands for any"`
		Control bool              `json:"control" doc:"What happens in control to these points, too"`
		At
	}
	// Pattern selects points.
	Pattern struct {
		Pattern string `json:"pattern" api:"max=1024" doc:"Commands and writes only of these points; reservations and overrides always"`
	}
	// Account tells whether the ledger is included.
	Account struct {
		Ledger bool `json:"ledger" doc:"The account of all samples, too"`
	}
	// Subject selects messages on the bus.
	Subject struct {
		Subject string `json:"subject" api:"max=1024,default=live.>" doc:"A subject below live; * stands for one part, > at the end for all that follow"`
	}
	// Log selects records of a node's log.
	Log struct {
		nodelog.Lines
		At
	}
	// Printed selects lines that an agent printed.
	Printed struct {
		processes.Lines
		At
	}
	// Run names a run of the lab.
	Run struct {
		ID string `json:"id" api:"required,max=1024"`
	}
)

// declareStream declares a stream of events.
func declareStream[In any](name, id, path string, role identity.Role, s operation.Spec) operation.Operation[In, operation.None] {
	s.Name, s.ID, s.HTTP, s.Role = name, id, "GET "+path, role
	s.Stream, s.Formats, s.Carried = operation.Events, []string{"text/event-stream"}, events
	return operation.Declare[In, operation.None](s)
}

// Streams of events.
var (
	Values = declareStream[Live]("live.follow", "streamLive", "/stream", identity.Viewer, operation.Spec{
		Summary: "Follow what devices report, as it happens", Result: "Events",
		Doc: "Server-sent events. event: scan carries a live message as data. Messages of up to 50 ms come together. Comments keep the connection " +
			"alive. A reader that cannot keep up, or whose login ends, gets a last event: error with a problem as data, and the stream ends. " +
			"Without a pattern everything comes. Unit and tags select among the points that the node knows when the stream begins, at most 10,000. " +
			"With control what happens in control to the points comes in the same stream, as event: control with a ControlEvent as data; " +
			"reservations and overrides always come, as in /api/v1/control/events. " +
			"With node they are live messages of a descendant or ancestor, as far as it lets this one read them; nothing of them is stored here. " +
			"One pattern selects, without unit, tags and control. event: dropped says how many messages came faster than they were taken from there. " +
			"When the node or one on the way is lost, the stream ends with event: error.",
	})
	Control = declareStream[Pattern]("control.follow", "streamControl", "/control/events", identity.Viewer, operation.Spec{
		Summary: "Follow what happens in control, as server-sent events named control", Result: "A ControlEvent in each",
	})
	Nodes = declareStream[Account]("nodes.follow", "streamNodes", "/events/nodes", identity.Viewer, operation.Spec{
		Summary: "Follow this node and all below it, as server-sent events named nodes", Result: "A NodesChange in each named nodes; an event error ends it",
		Doc: "The first event is whole: all nodes with all their fields. The others hold what changed since the event before, at most one each second: " +
			"of each node that changed its name and the fields that changed, null for a field that is no more; all fields of one that is new. A reader " +
			`that is slow gets what changed since its last event, in one. Sort nodes by "path" for the order of the tree. ` +
			"With ledger the account of all samples, as /api/v1/ledger gives it, comes in the same stream, in events named ledger with a LedgerChange in " +
			"each: all of it, then what changed, at most one each second and 256 KiB a second.",
	})
	Bus = declareStream[Subject]("bus.follow", "streamBus", "/bus/stream", identity.Engineer, operation.Spec{
		Summary: "Follow a sample of the live messages on the bus, and their rates", Result: "Events",
		Doc: "Server-sent events, sent each second. event: message carries a BusMessage, the first 50 of the second; event: rates carries BusRates. It " +
			"is measured only while somebody watches.",
	})
	NodeLog = declareStream[Log]("log.follow", "followNodeLog", "/log/follow", identity.Engineer, operation.Spec{
		Summary: "Follow the node's own log, or that of another node", Watched: "log.read",
		Result: "Events line, each a NodeLogLine, and lost, a NodeLogLost; an event error ends it",
		Doc: "As /api/v1/log, and then each further record; from another node a second later at most. event: lost says that records came faster than " +
			"they were read.",
	})
	AgentLog = declareStream[Printed]("agent.logs.follow", "followProcessLogs", "/agents/{name}/logs/follow", identity.Viewer, operation.Spec{
		Summary: "Follow what an agent printed and prints from now", Result: "Events line, each a ProcessLine; an event error ends it",
	})
	LabRun = declareStream[Run]("lab.follow", "streamLabRun", "/lab/runs/{id}/stream", identity.Viewer, operation.Spec{
		Summary: "Follow how a run goes, as server-sent events", Result: "Endless until the run ends",
		Doc: "Events progress hold a LabProgress, from the beginning of the run as far as it is kept; the event end holds the LabRun in its last state " +
			"and ends the stream. An error event holds a Problem.",
	})
)

func streams() []operation.Declared {
	return []operation.Declared{
		Values.Declared(), Control.Declared(), Nodes.Declared(), Bus.Declared(), NodeLog.Declared(), AgentLog.Declared(), LabRun.Declared(),
	}
}
