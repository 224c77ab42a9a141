package dispatch

import (
	"encoding/json"
	"strconv"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/point"
)

// node is the actor of what the node does by itself.
const node = "node"

// detail is what the audit log records besides actor, action and outcome. Values are encoded as JSON.
type detail struct {
	ID        string           `json:"id,omitempty"`
	Requester string           `json:"requester,omitempty"` // of the command, if other than the actor
	Level     control.Level    `json:"level,omitempty"`
	Value     *point.Value     `json:"value,omitempty"`    // commanded or written
	Reported  *point.Value     `json:"reported,omitempty"` // by the device
	Lease     string           `json:"lease,omitempty"`
	Task      string           `json:"task,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Cause     control.Cause    `json:"cause,omitempty"`
	Why       control.Why      `json:"why,omitempty"`
	Write     uint64           `json:"write,omitempty"` // identifier of the write that follows, or that the entry concerns
	Wins      *bool            `json:"wins,omitempty"`
	Until     time.Time        `json:"until,omitzero"`
	Later     time.Time        `json:"later,omitzero"`
	Release   bool             `json:"release,omitempty"`
	Fault     string           `json:"fault,omitempty"`
	Priority  control.Priority `json:"priority,omitempty"`
	Windows   []control.Window `json:"windows,omitempty"`
	Holders   []control.Holder `json:"holders,omitempty"`
	Lost      []control.Holder `json:"lost,omitempty"`
	Failsafe  bool             `json:"failsafe,omitempty"`
	Spread    string           `json:"spread,omitempty"`
	Fence     control.Fence    `json:"fence,omitzero"`
}

// json encodes the detail field by field, as package json would: every command and every outcome has one.
func (x *detail) json() json.RawMessage {
	o := &point.Object{JSON: make([]byte, 0, 192)}
	o.Begin()
	o.Some("id", x.ID)
	o.Some("requester", x.Requester)
	if x.Level != 0 {
		o.Uint("level", uint64(x.Level))
	}
	for _, v := range []struct {
		name  string
		value *point.Value
	}{{"value", x.Value}, {"reported", x.Reported}} {
		if v.value != nil {
			o.Name(v.name)
			o.JSON = v.value.AppendJSON(o.JSON)
		}
	}
	o.Some("lease", x.Lease)
	o.Some("task", x.Task)
	o.Some("reason", x.Reason)
	o.Some("cause", string(x.Cause))
	o.Some("why", string(x.Why))
	if x.Write != 0 {
		o.Uint("write", x.Write)
	}
	if x.Wins != nil {
		o.Name("wins")
		o.JSON = strconv.AppendBool(o.JSON, *x.Wins)
	}
	o.Moment("until", x.Until)
	o.Moment("later", x.Later)
	o.True("release", x.Release)
	o.Some("fault", x.Fault)
	o.Some("priority", string(x.Priority))
	rare(o, "windows", x.Windows)
	rare(o, "holders", x.Holders)
	rare(o, "lost", x.Lost)
	o.True("failsafe", x.Failsafe)
	o.Some("spread", x.Spread)
	if f := x.Fence; f.Group != "" {
		o.Name("fence")
		o.Begin()
		o.Text("group", f.Group)
		o.Uint("term", f.Term)
		o.Some("leader", f.Leader)
		o.End()
	}
	o.End()
	return o.JSON
}

func rare[T any](o *point.Object, name string, list []T) {
	if len(list) == 0 {
		return
	}
	if data, err := json.Marshal(list); err == nil { // no field can fail
		o.Name(name)
		o.JSON = append(o.JSON, data...)
	}
}

func some(v point.Value) *point.Value {
	if v.Kind() == point.None {
		return nil
	}
	return &v
}

// span formats a duration; "" for none.
func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// entryOfRequest returns the entry about a request and its decision.
func entryOfRequest(actor, action, subject string, x detail, d *control.Decision) audit.Entry {
	outcome := string(d.Status)
	x.Why, x.Holders, x.Lost, x.Until, x.Later = d.Why, d.Holders, d.Lost, d.Until, d.Later
	if d.Err != nil {
		outcome += ": " + d.Err.Err.Error()
		x.Fault = d.Err.Kind.String()
	}
	if d.Repeat {
		outcome = "repeated: " + outcome
	}
	return audit.Entry{Actor: actor, Action: action, Subject: subject, Outcome: outcome, Detail: x.json()}
}

// entryOf returns the entry about an event; false if another entry covers it, or nobody needs it later.
func entryOf(actor string, e *control.Event) (audit.Entry, bool) {
	switch e.Kind {
	case control.CommandStarted, control.ApprovalAsked, control.TaskMade, control.OverrideStarted, control.LeaseRenewed,
		control.WindowAnnounced:
		return audit.Entry{}, false
	default:
	}
	x := detail{
		ID: e.Command, Level: e.Level, Value: some(e.Value), Task: e.Task, Reason: e.Reason, Cause: e.Cause, Write: e.Write,
	}
	if e.Requester != actor {
		x.Requester = e.Requester
	}
	outcome := "ok"
	switch e.Kind {
	case control.WriteConfirmed, control.PointRead:
		x.Value, x.Reported = nil, some(e.Value)
	case control.Mismatched:
		x.Value, x.Reported = some(e.Commanded), some(e.Value)
		outcome = "the device reports another value than the point was set to"
	case control.MismatchEnded:
		x.Value, x.Reported = some(e.Commanded), some(e.Value)
	case control.WriteDiffers:
		x.Value, x.Reported = nil, some(e.Value)
		outcome = "the device reports another value"
	case control.WriteFailed:
		outcome, x.Fault = "not carried out: "+e.Text, e.Fault.String()
	case control.WriteUnknown:
		outcome, x.Fault = "it is not known whether the device took it: "+e.Text, e.Fault.String()
	default:
	}
	subject := string(e.Path)
	if subject == "" {
		subject = e.Task
	}
	return audit.Entry{Actor: actor, Action: "control." + string(e.Kind), Subject: subject, Outcome: outcome, Detail: x.json()}, true
}

// entryOfWrite returns the entry about a write that does not follow from a command at that moment.
func entryOfWrite(actor string, w *control.Write, outcome string) audit.Entry {
	x := detail{ID: w.Command, Level: w.Level, Value: some(w.Value), Cause: w.Cause, Write: w.ID, Release: w.Release}
	if w.Requester != actor {
		x.Requester = w.Requester
	}
	action := "control.write"
	if w.Read {
		action, x.Value = "control.read", nil
	}
	return audit.Entry{Actor: actor, Action: action, Subject: string(w.Point), Outcome: outcome, Detail: x.json()}
}
