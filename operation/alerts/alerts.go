// Package alerts declares and carries out the operations on alerts of agents and of the node.
package alerts

import (
	"context"
	"encoding/json"
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
)

// Part does what is asked about alerts.
type Part struct {
	Keeper Keeper // nil where nobody raises any
	Online func(agent string) bool
	Tell   func(agent, news string, about []byte) error
	Own    string           // who raises the alerts of the node itself
	Look   func(key string) // has the node look again at what it raised itself
}

// Operations lists what the part does.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{operation.Bind(List, nil, p.list), operation.Bind(Clear, nil, p.clear)}
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
		}
	}
	return out, nil
}

// alertTime is how long an agent may take to say whether an alert lasts.
const alertTime = 2 * time.Second

// clear hides nothing that lasts: the node looks again at what it raised itself, and another agent is asked. One that is away cannot say,
// so that the alert is open again when it returns.
func (p *Part) clear(ctx context.Context, c *operation.Call, in *Alert) (operation.None, error) {
	c.Did(in.Agent+"/"+in.Key, nil)
	ctx, cancel := context.WithTimeout(ctx, alertTime)
	defer cancel()
	if in.Agent == p.Own {
		return operation.None{}, p.Keeper.Doubt(ctx, in.Agent, in.Key, func() error { p.Look(in.Key); return nil })
	}
	if !p.Online(in.Agent) {
		return operation.None{}, p.Keeper.Shelve(in.Agent, in.Key)
	}
	news, err := json.Marshal(map[string]string{"key": in.Key})
	if err != nil {
		return operation.None{}, err
	}
	err = p.Keeper.Doubt(ctx, in.Agent, in.Key, func() error { return p.Tell(in.Agent, wire.NewsAlert, news) })
	if !p.Online(in.Agent) && fault.Is(err, fault.Timeout) { // it has left meanwhile
		err = p.Keeper.Shelve(in.Agent, in.Key)
	}
	return operation.None{}, err
}
