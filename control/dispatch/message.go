package dispatch

import (
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Message is an event as programs and screens receive it, in JSON.
type Message struct {
	Kind      control.EventKind `json:"kind"`
	Path      point.Path        `json:"path,omitempty"` // point, device or subtree; the pattern of an override
	Requester string            `json:"requester,omitempty"`
	Task      string            `json:"task,omitempty"`
	Command   string            `json:"command,omitempty"` // its identifier
	Level     control.Level     `json:"level,omitempty"`
	Value     *point.Value      `json:"value,omitempty"`     // for a command or write; for a reading or mismatch, what the point reports
	Commanded *point.Value      `json:"commanded,omitempty"` // for a mismatch, what it should report
	Wish      *point.Value      `json:"wish,omitempty"`      // the same, under its name before 0.5
	Cause     control.Cause     `json:"cause,omitempty"`
	By        string            `json:"by,omitempty"` // who caused it, if other than the requester
	Reason    string            `json:"reason,omitempty"`
	From      time.Time         `json:"from,omitzero"`
	Until     time.Time         `json:"until,omitzero"`
	Write     uint64            `json:"write,omitempty"`
	Fault     string            `json:"fault,omitempty"` // the kind of failure of a write
	Text      string            `json:"text,omitempty"`  // the device's message; untrusted
}

// MessageOf converts an event to a message.
func MessageOf(e *control.Event) Message {
	m := Message{
		Kind: e.Kind, Path: e.Path, Requester: e.Requester, Task: e.Task, Command: e.Command, Level: e.Level,
		Value: some(e.Value), Commanded: some(e.Commanded), Wish: some(e.Commanded), Cause: e.Cause, By: e.By, Reason: e.Reason, From: e.From, Until: e.Until, Write: e.Write, Text: e.Text,
	}
	if e.Text != "" || e.Fault != fault.Internal {
		m.Fault = e.Fault.String()
	}
	return m
}

// Topic is the subject of a message: below Prefix, with the path that it concerns; Prefix itself for a task.
func (m *Message) Topic() point.Path {
	if m.Path == "" {
		return Prefix
	}
	return Prefix.Join(string(m.Path))
}

// JSON encodes the message as package json would: each command has two or three.
func (m *Message) JSON() []byte {
	o := &point.Object{JSON: make([]byte, 0, 256)}
	o.Begin()
	o.Text("kind", string(m.Kind))
	o.Some("path", string(m.Path))
	o.Some("requester", m.Requester)
	o.Some("task", m.Task)
	o.Some("command", m.Command)
	if m.Level != 0 {
		o.Uint("level", uint64(m.Level))
	}
	if m.Value != nil {
		o.Name("value")
		o.JSON = m.Value.AppendJSON(o.JSON)
	}
	if m.Commanded != nil {
		o.Name("commanded")
		o.JSON = m.Commanded.AppendJSON(o.JSON)
	}
	if m.Wish != nil {
		o.Name("wish")
		o.JSON = m.Wish.AppendJSON(o.JSON)
	}
	o.Some("cause", string(m.Cause))
	o.Some("by", m.By)
	o.Some("reason", m.Reason)
	o.Moment("from", m.From)
	o.Moment("until", m.Until)
	if m.Write != 0 {
		o.Uint("write", m.Write)
	}
	o.Some("fault", m.Fault)
	o.Some("text", m.Text)
	o.End()
	return o.JSON
}
