package service

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// NotifyType is what a notification is about (clause 21, BACnetNotifyType).
type NotifyType uint8

// The types of a notification.
const (
	NotifyAlarm NotifyType = iota
	NotifyEvent
	NotifyAck
)

// EventNotification tells of an alarm or event (ConfirmedEventNotification and
// UnconfirmedEventNotification, clauses 13.8 and 13.9).
type EventNotification struct {
	Process     uint32
	Device      encoding.ObjectID
	Object      encoding.ObjectID
	Time        constructed.TimeStamp
	Class       uint32 // notification class
	Priority    uint8  // 0 highest – 255
	Type        enum.EventType
	Text        string
	Notify      NotifyType
	AckRequired bool
	From, To    enum.EventState
	Values      encoding.Any // what the algorithm saw, in the form of the event type; may be nil
}

// Append writes the notification.
func (n EventNotification) Append(b []byte) []byte {
	b = encoding.AppendObjectID(encoding.AppendUnsigned(b, 0, uint64(n.Process)), 1, n.Device)
	b = encoding.AppendAny(encoding.AppendObjectID(b, 2, n.Object), 3, n.Time.Append(nil))
	b = encoding.AppendUnsigned(encoding.AppendUnsigned(b, 4, uint64(n.Class)), 5, uint64(n.Priority))
	if b = encoding.AppendEnumerated(b, 6, uint32(n.Type)); n.Text != "" {
		b = encoding.AppendText(b, 7, n.Text)
	}
	b = encoding.AppendEnumerated(b, 8, uint32(n.Notify))
	if n.Notify != NotifyAck {
		b = encoding.AppendEnumerated(encoding.AppendBoolean(b, 9, n.AckRequired), 10, uint32(n.From))
	}
	b = encoding.AppendEnumerated(b, 11, uint32(n.To))
	if n.Notify != NotifyAck && n.Values != nil {
		b = encoding.AppendAny(b, 12, n.Values)
	}
	return b
}

// DecodeEventNotification reads the notification.
func DecodeEventNotification(p []byte) (EventNotification, error) {
	d := encoding.NewDecoder(p)
	n := EventNotification{Process: d.Uint32(0), Device: d.ObjectID(1), Object: d.ObjectID(2)}
	n.Time = readStamp(d, 3)
	n.Class, n.Priority, n.Type = d.Uint32(4), uint8(d.Unsigned(5)), enum.EventType(d.Enumerated(6))
	if d.Has(7) {
		n.Text = d.Text(7)
	}
	n.Notify = NotifyType(d.Enumerated(8))
	if d.Has(9) {
		n.AckRequired = d.Boolean(9)
	}
	if d.Has(10) {
		n.From = enum.EventState(d.Enumerated(10))
	}
	n.To = enum.EventState(d.Enumerated(11))
	if d.HasOpening(12) {
		n.Values = d.Any(12)
	}
	return n, d.End()
}

func readStamp(d *encoding.Decoder, tag int) constructed.TimeStamp {
	d.Opening(tag)
	t := constructed.ReadTimeStamp(d)
	d.Closing(tag)
	return t
}

// AcknowledgeRequest acknowledges an alarm (AcknowledgeAlarm, clause 13.5).
type AcknowledgeRequest struct {
	Process uint32
	Object  encoding.ObjectID
	State   enum.EventState       // the state that is acknowledged
	Time    constructed.TimeStamp // of the event, as the device told it
	Source  string                // who acknowledges
	AckTime constructed.TimeStamp
}

// Append writes the request.
func (r AcknowledgeRequest) Append(b []byte) []byte {
	b = encoding.AppendObjectID(encoding.AppendUnsigned(b, 0, uint64(r.Process)), 1, r.Object)
	b = encoding.AppendAny(encoding.AppendEnumerated(b, 2, uint32(r.State)), 3, r.Time.Append(nil))
	return encoding.AppendAny(encoding.AppendText(b, 4, r.Source), 5, r.AckTime.Append(nil))
}

// DecodeAcknowledgeRequest reads the request.
func DecodeAcknowledgeRequest(p []byte) (AcknowledgeRequest, error) {
	d := encoding.NewDecoder(p)
	r := AcknowledgeRequest{
		Process: d.Uint32(0), Object: d.ObjectID(1), State: enum.EventState(d.Enumerated(2)),
		Time: readStamp(d, 3), Source: d.Text(4), AckTime: readStamp(d, 5),
	}
	return r, d.End()
}

// EventSummary is an object that is in alarm or not acknowledged.
type EventSummary struct {
	Object       encoding.ObjectID
	State        enum.EventState
	Acknowledged encoding.BitString // to-offnormal, to-fault, to-normal
	Times        [3]constructed.TimeStamp
	Notify       NotifyType
	Enabled      encoding.BitString
	Priorities   [3]uint8
}

// EventInformation is the answer to GetEventInformation (clause 13.12): More asks to go on behind
// the last object.
type EventInformation struct {
	Events []EventSummary
	More   bool
}

// AppendGetEvents writes the request: for all objects, or for those behind last.
func AppendGetEvents(b []byte, last *encoding.ObjectID) []byte {
	if last == nil {
		return b
	}
	return encoding.AppendObjectID(b, 0, *last)
}

// DecodeGetEvents reads the request; nil asks for all objects.
func DecodeGetEvents(p []byte) (*encoding.ObjectID, error) {
	d := encoding.NewDecoder(p)
	if !d.Has(0) {
		return nil, d.End()
	}
	last := d.ObjectID(0)
	return &last, d.End()
}

// Append writes the answer.
func (e EventInformation) Append(b []byte) []byte {
	b = encoding.AppendOpening(b, 0)
	for _, s := range e.Events {
		b = s.append(b)
	}
	return encoding.AppendBoolean(encoding.AppendClosing(b, 0), 1, e.More)
}

func (s EventSummary) append(b []byte) []byte {
	b = encoding.AppendEnumerated(encoding.AppendObjectID(b, 0, s.Object), 1, uint32(s.State))
	b = encoding.AppendOpening(encoding.AppendBits(b, 2, s.Acknowledged), 3)
	for _, t := range s.Times {
		b = t.Append(b)
	}
	b = encoding.AppendEnumerated(encoding.AppendClosing(b, 3), 4, uint32(s.Notify))
	b = encoding.AppendOpening(encoding.AppendBits(b, 5, s.Enabled), 6)
	for _, p := range s.Priorities {
		b = encoding.AppendUnsigned(b, encoding.App, uint64(p))
	}
	return encoding.AppendClosing(b, 6)
}

func readEventSummary(d *encoding.Decoder) EventSummary {
	s := EventSummary{Object: d.ObjectID(0), State: enum.EventState(d.Enumerated(1)), Acknowledged: d.Bits(2)}
	d.Opening(3)
	for i := range s.Times {
		s.Times[i] = constructed.ReadTimeStamp(d)
	}
	d.Closing(3)
	s.Notify, s.Enabled = NotifyType(d.Enumerated(4)), d.Bits(5)
	d.Opening(6)
	for i := range s.Priorities {
		s.Priorities[i] = uint8(d.Unsigned(encoding.App))
	}
	d.Closing(6)
	return s
}

// DecodeEventInformation reads the answer.
func DecodeEventInformation(p []byte) (EventInformation, error) {
	var e EventInformation
	d := encoding.NewDecoder(p)
	d.Opening(0)
	for d.More() {
		e.Events = append(e.Events, readEventSummary(d))
	}
	d.Closing(0)
	e.More = d.Boolean(1)
	return e, d.End()
}
