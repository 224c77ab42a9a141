// Package report turns events of a node's parts into audit entries, and decides which of them wait for the disk, which count against an
// allowance, and which are summed up.
package report

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"voltbus/alarm"
	"voltbus/api/exchange"
	"voltbus/audit"
	"voltbus/operation"
	"voltbus/timeline/outage"
)

// Log is the audit log. Package audit implements it.
type Log interface {
	// Append returns when the entries are on disk.
	Append(ctx context.Context, entries ...audit.Entry) error
	// Offer accepts an entry within the allowance of its actor, without waiting.
	Offer(e audit.Entry)
	// Gather accepts the first entry of a kind at once, and sums up further ones in one entry a minute.
	Gather(e audit.Entry)
}

// Options configure a Reporter. All are required.
type Options struct {
	Node string // the name of this node
	// ReadOnly suppresses the node's own actions: the node was opened only to inspect its data.
	ReadOnly bool
	Audit    Log
	Log      *slog.Logger
	Now      func() time.Time
}

// Reporter writes audit entries. It is safe for concurrent use.
type Reporter struct{ opts Options }

// New returns a reporter.
func New(o Options) *Reporter { return &Reporter{opts: o} }

// Node reports what the node did by itself. detail is a value that can be encoded as JSON; nil for none.
func (r *Reporter) Node(ctx context.Context, action string, err error, detail any) {
	r.About(ctx, action, r.opts.Node, err, detail)
}

// About is Node for a subject other than the node.
func (r *Reporter) About(ctx context.Context, action, subject string, err error, detail any) {
	e := audit.Entry{Actor: "node", Action: action, Subject: subject, Outcome: outcome(err)}
	if detail != nil {
		e.Detail, _ = json.Marshal(detail) // strings and lists of them cannot fail
	}
	r.append(ctx, e)
}

// append writes an entry. If that fails the node continues, and its health shows it.
func (r *Reporter) append(ctx context.Context, e audit.Entry) {
	if r.opts.ReadOnly {
		return
	}
	if err := r.opts.Audit.Append(context.WithoutCancel(ctx), e); err != nil {
		r.opts.Log.WarnContext(ctx, "audit log is not written", slog.String("action", e.Action), slog.Any("err", err))
	}
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// Operation reports an action and its outcome. An entry that cannot be written does not undo the action: the health
// shows it. Actions of agents, and refusals to remote callers, count against an allowance: programs can repeat
// requests endlessly.
func (r *Reporter) Operation(ctx context.Context, e operation.Entry) {
	entry := audit.Entry{Actor: e.Caller.Name, Action: e.Action, Subject: e.Subject, Outcome: exchange.Ending(e.Err), Time: r.opts.Now()}
	if e.Detail != nil {
		entry.Detail, _ = json.Marshal(e.Detail) // strings, numbers and lists of them cannot fail
	}
	if e.Reading {
		entry.Subject = cmp.Or(entry.Subject, r.opts.Node)
		r.opts.Audit.Gather(entry)
		return
	}
	if e.Caller.IsAgent() || (e.Caller.Remote && e.Err != nil) {
		r.opts.Audit.Offer(entry)
		return
	}
	if err := r.opts.Audit.Append(context.WithoutCancel(ctx), entry); err != nil {
		r.opts.Log.ErrorContext(ctx, "the audit log cannot be written", slog.String("action", e.Action), slog.Any("err", err))
	}
}

// Alarm reports that an alarm changed by itself. What operators do is reported by their operations.
func (r *Reporter) Alarm(t alarm.Transition) {
	if t.By != "" || r.opts.ReadOnly {
		return
	}
	e := audit.Entry{Actor: "node", Action: "alarm." + string(t.Event), Subject: string(t.Alarm), Outcome: "ok"}
	e.Detail, _ = json.Marshal(map[string]string{ // strings cannot fail
		"from": string(t.From), "to": string(t.To), "priority": string(t.Priority), "value": t.Value, "at": t.At.Format(time.RFC3339Nano),
	})
	r.opts.Audit.Offer(e)
}

// Outages watches devices, and reports those that stop answering, and answer again.
func (r *Reporter) Outages(devices outage.Devices) *outage.Watcher {
	return outage.New(outage.Options{Devices: devices, Told: r.outage, Now: r.opts.Now})
}

func (r *Reporter) outage(t outage.Turn) {
	e := audit.Entry{Actor: "node", Action: "device.back", Subject: t.First, Outcome: "ok"}
	detail := struct {
		Devices int    `json:"devices"`
		Lasted  string `json:"lasted,omitempty"`
	}{Devices: t.Devices}
	if t.Lost {
		e.Action, e.Outcome = "device.lost", cmp.Or(t.Why, e.Outcome)
	} else {
		detail.Lasted = t.Lasted.Round(time.Second).String()
	}
	e.Detail, _ = json.Marshal(detail) // strings and numbers cannot fail
	r.opts.Audit.Offer(e)
}

// Process reports what happened to the process of an agent.
func (r *Reporter) Process(actor, action, agent, text string, failed bool) {
	e := audit.Entry{Actor: actor, Action: action, Subject: agent, Outcome: "ok"}
	if failed {
		e.Outcome = "failed: " + text
	}
	if text != "" {
		e.Detail, _ = json.Marshal(map[string]string{"text": text}) // strings cannot fail
	}
	r.opts.Audit.Offer(e)
}
