// Package alerts declares and carries out the operations on alerts of agents and of the node.
package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/presence"
	"voltbus/wire"
)

// Keeper keeps alerts, as presence.Keeper does.
type Keeper interface {
	List() []presence.Alert
	Refused() uint64
	Shelve(agent, key string) error
	Doubt(ctx context.Context, agent, key string, ask func() error) error
}

// Alert names an alert.
type Alert struct {
	Agent string `json:"agent" api:"required,max=64"`
	Key   string `json:"key" api:"required,max=256" doc:"A slash in it is written %2F"`
}

// The operations.
var (
	List = operation.Declare[struct{}, answer.Alerts](operation.Spec{
		Name: "alert.list", ID: "listAlerts", HTTP: "GET /alerts", Role: identity.Viewer,
		Summary: "List what agents want people to know, until it is over", Result: "The open alerts: the most severe first, of these the newest",
	})
	Clear = operation.Declare[Alert, operation.None](operation.Spec{
		Name: "alert.clear", HTTP: "POST /alerts/{agent}/{key}/clear", Role: identity.Operator, Audited: true,
		Summary: "End an alert that does not last",
		Doc:     "409 if its agent says that it lasts, 504 if the agent does not say. It opens again when the agent says so again.",
	})
	Acknowledge = operation.Declare[Alert, operation.None](operation.Spec{
		Name: "alert.acknowledge", HTTP: "POST /alerts/{agent}/{key}/acknowledge", Role: identity.Operator, Audited: true,
		Summary: "Tell the device of an alarm that somebody has seen it",
		Doc:     "For alerts that are unacknowledged, which devices raised; the name of the person is sent to the device. 404 for any other. The alert ends when the alarm is over, too.",
	})
)

// Part carries out the operations on alerts.
type Part struct {
	Keeper Keeper // nil if there are no alerts
	Online func(agent string) bool
	Tell   func(agent, news string, about []byte) error
	Own    string                                // the source of the node's own alerts
	Look   func(ctx context.Context, key string) // makes the node recheck an alert of its own
	// Waits reports whether an alert of the node is of a device's alarm that is not acknowledged yet, and Acknowledge
	// tells the device.
	Waits       func(key string) bool
	Acknowledge func(ctx context.Context, key, who string) error
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{operation.Bind(List, nil, p.list), operation.Bind(Clear, nil, p.clear), operation.Bind(Acknowledge, nil, p.acknowledge)}
	if p.Keeper == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(context.Context, *operation.Call, *struct{}) (answer.Alerts, error) {
	list := p.Keeper.List()
	out := answer.Alerts{Alerts: make([]answer.Alert, len(list)), Refused: p.Keeper.Refused()}
	for i := range list {
		a := &list[i]
		out.Alerts[i] = answer.Alert{
			Agent: a.Agent, Key: a.Key, Severity: string(a.Severity), Text: a.Text, First: a.First, Last: a.Last, Count: a.Count,
			Unacknowledged: a.Agent == p.Own && p.Waits(a.Key),
		}
	}
	return out, nil
}

var errNotDevice = errors.New("an agent raised it; only alarms of devices are acknowledged")

// acknowledge passes on that somebody has seen an alarm.
func (p *Part) acknowledge(ctx context.Context, c *operation.Call, in *Alert) (operation.None, error) {
	c.Did(in.Agent+"/"+in.Key, nil)
	if in.Agent != p.Own {
		return operation.None{}, fault.E("alert.acknowledge", fault.NotFound, in.Agent+": "+in.Key, errNotDevice)
	}
	return operation.None{}, p.Acknowledge(ctx, in.Key, strings.TrimPrefix(c.Name, "person:"))
}

// Seen tells the device of an alert of the node that somebody has seen it, if the device waits for that.
func (p *Part) Seen(ctx context.Context, agent, key, who string) error {
	if agent != p.Own || !p.Waits(key) {
		return nil
	}
	return p.Acknowledge(ctx, key, who)
}

// alertTime is how long an agent may take to answer whether an alert persists.
const alertTime = 2 * time.Second

// clear hides no condition that persists: the node rechecks its own alerts, and asks the agents about theirs. An agent that is
// disconnected cannot answer, so its alert reopens when it returns.
func (p *Part) clear(ctx context.Context, c *operation.Call, in *Alert) (operation.None, error) {
	c.Did(in.Agent+"/"+in.Key, nil)
	ctx, cancel := context.WithTimeout(ctx, alertTime)
	defer cancel()
	if in.Agent == p.Own {
		return operation.None{}, p.Keeper.Doubt(ctx, in.Agent, in.Key, func() error { p.Look(ctx, in.Key); return nil })
	}
	if !p.Online(in.Agent) {
		return operation.None{}, p.Keeper.Shelve(in.Agent, in.Key)
	}
	news, err := json.Marshal(map[string]string{"key": in.Key})
	if err != nil {
		return operation.None{}, err
	}
	err = p.Keeper.Doubt(ctx, in.Agent, in.Key, func() error { return p.Tell(in.Agent, wire.NewsAlert, news) })
	if !p.Online(in.Agent) && fault.Is(err, fault.Timeout) { // it has disconnected meanwhile
		err = p.Keeper.Shelve(in.Agent, in.Key)
	}
	return operation.None{}, err
}
