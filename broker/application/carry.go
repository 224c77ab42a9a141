package application

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/mqtt/session"
)

// carryTime bounds what a command may take, through all nodes and with what the device says.
const carryTime = 30 * time.Second

// do carries out a request, unless it was refused.
func (g *Gate) do(ctx context.Context, a *app, j *job) Outcome {
	if j.why != "" {
		return Outcome{Status: refused, Why: j.why}
	}
	ctx, cancel := context.WithTimeout(ctx, carryTime)
	defer cancel()
	o := &Order{
		Application: a.setting.Name, Node: j.Node, Point: point.Path(j.Point), Level: j.Level, ID: j.request.ID,
		Lease: cmp.Or(time.Duration(j.request.Lease*float64(time.Second)), j.Lease),
	}
	if j.request.Release {
		if err := g.cfg.Carry.Release(ctx, o); err != nil {
			return Outcome{Status: failed, Why: err.Error()}
		}
		return Outcome{Status: "released"}
	}
	o.Value = *j.request.Value
	if why := g.near(ctx, j, o); why != "" {
		g.cfg.Refused(o.Application, topicOf(o.Application, setting.SetTopic, j.name), why)
		return Outcome{Status: refused, Why: why}
	}
	out, err := g.cfg.Carry.Set(ctx, o)
	if err != nil {
		return Outcome{Status: failed, Why: err.Error()}
	}
	return out
}

// near says why a value is not near enough to the present one, "" if it is.
func (g *Gate) near(ctx context.Context, j *job, o *Order) string {
	if j.Step == 0 {
		return ""
	}
	present, err := g.cfg.Carry.Present(ctx, o)
	if err != nil {
		return "cannot be compared with the present value: " + err.Error()
	}
	return j.tooFar(present, o.Value)
}

// reply is what an application is told.
type reply struct {
	Command  string          `json:"command"`
	ID       string          `json:"id,omitempty"`
	Status   string          `json:"status"`
	Value    *float64        `json:"value,omitempty"`
	Output   string          `json:"output,omitempty"`
	Reported json.RawMessage `json:"reported,omitempty"`
	Until    *time.Time      `json:"until,omitempty"`
	Why      string          `json:"why,omitempty"`
	Time     time.Time       `json:"time"`
}

// answer counts what became of a request, and tells the application.
func (g *Gate) answer(a *app, j *job, out Outcome) {
	now := g.cfg.Now()
	if j.why == "" {
		g.count(a, j, &out, now)
	}
	payload, err := json.Marshal(reply{
		Command: j.name, ID: j.request.ID, Status: out.Status, Value: j.request.Value, Output: out.Output, Reported: out.Reported,
		Until: out.Until, Why: out.Why, Time: now.UTC(),
	})
	if err != nil || len(j.name) > setting.MaxName {
		return
	}
	g.cfg.Send(&session.Message{Topic: topicOf(a.setting.Name, setting.AnswersTopic, j.name), Payload: payload, QoS: 1})
}

// count keeps what control said of a request.
func (g *Gate) count(a *app, j *job, out *Outcome, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := a.orders[j.name]
	o.state.last(now, j.request.Value, out.Status, out.Why)
	switch out.Status {
	case refused:
		o.state.Refused++
		a.state.Refused++
	case failed:
		o.state.Failed++
		a.state.Failed++
	default:
		o.state.Accepted++
		a.state.Accepted++
	}
	a.state.remember(Event{
		Time: now, Topic: topicOf(a.setting.Name, setting.SetTopic, j.name), Value: j.request.Value, Status: out.Status, Why: out.Why,
	})
}

func topicOf(application, what, name string) string {
	return setting.ApplicationTopics + application + "/" + what + "/" + name
}
