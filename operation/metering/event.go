package metering

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/meter"
	"voltbus/meter/gate"
	"voltbus/meter/message"
	"voltbus/meter/store"
	"voltbus/operation"
)

// Events accepts events.
type Events interface {
	TakeEvents(ctx context.Context, sender, under string, list []meter.Event) (gate.Taken, error)
}

// The arguments.
type (
	// Reports is events.
	Reports struct {
		Events []answer.MeterEventIn `json:"events" api:"required" doc:"meter, at, kind (such as last-gasp) or code of IEC 61968-9 (such as 3.26.0.85), severity, detail"`
	}
	// Happened requests events.
	Happened struct {
		Meter string   `json:"meter" api:"max=64" doc:"Only those of this meter"`
		Kinds []string `json:"kinds" api:"query" doc:"Only those of these kinds, such as last-gasp"`
		From  string   `json:"from" api:"max=40" doc:"Events after it, as 2026-03-01T00:00:00Z"`
		To    string   `json:"to" api:"max=40" doc:"and not after it"`
		After int      `json:"after" api:"min=0" doc:"The number of the event behind which the list begins"`
		Limit int      `json:"limit" api:"min=1,max=10000,default=100" doc:"The most events"`
	}
)

// The operations.
var (
	RecordEvents = operation.Declare[Reports, answer.MeterTaken](operation.Spec{
		Name: "meter.recordEvents", ID: "recordMeterEvents", HTTP: "POST /metering/events", Role: identity.Operator, Record: true, Body: bulkBody,
		Summary: "Record events of meters; answered when they are on disk", Result: "How many were accepted, and why others were refused",
		Doc: "Each event is taken or refused by itself. A token for recording may ask, too, as for readings. Events overtake readings on every hop.",
	})
	ListEvents = operation.Declare[Happened, answer.MeterEvents](operation.Spec{
		Name: "meter.events", ID: "listMeterEvents", HTTP: "GET /metering/events", Role: identity.Viewer,
		Summary: "List events of meters", Result: "The newest first",
	})
)

func (p *Part) recordEvents(ctx context.Context, c *operation.Call, in *Reports) (answer.MeterTaken, error) {
	var list message.List
	for i := range in.Events {
		e := &in.Events[i]
		t := message.EventText{Meter: e.Meter, At: e.At, Kind: e.Kind, Code: e.Code, Severity: e.Severity, Detail: e.Detail}
		is, problem := t.Event()
		list.AddEvent(&is, problem)
	}
	done, err := p.Events.TakeEvents(ctx, c.Name, c.Under, list.Events)
	if err != nil {
		return answer.MeterTaken{}, err
	}
	a := message.Answer{Refused: list.Refused}
	for _, r := range done.Refused {
		a.Refused = append(a.Refused, message.Refusal{Index: list.EventPlace(r.Index), Reason: r.Reason})
	}
	a.Sort()
	out := answer.MeterTaken{Accepted: done.Accepted, Refused: []answer.MeterRefusal{}}
	for _, r := range a.Refused {
		out.Refused = append(out.Refused, answer.MeterRefusal(r))
	}
	return out, nil
}

func (p *Part) events(ctx context.Context, _ *operation.Call, in *Happened) (answer.MeterEvents, error) {
	const op = "meter.events"
	q := store.EventQuery{Meter: in.Meter, After: uint64(in.After), Limit: in.Limit}
	for _, name := range in.Kinds {
		kind, err := meter.ParseEventKind(name)
		if err != nil {
			return answer.MeterEvents{}, invalid(op, "kinds", err)
		}
		q.Kinds = append(q.Kinds, kind)
	}
	for _, bound := range []struct {
		field, text string
		to          *time.Time
	}{{"from", in.From, &q.From}, {"to", in.To, &q.To}} {
		if bound.text == "" {
			continue
		}
		var err error
		if *bound.to, err = instant(op, bound.field, bound.text); err != nil {
			return answer.MeterEvents{}, err
		}
	}
	list, err := p.Store.Events(ctx, q)
	out := answer.MeterEvents{Events: []answer.MeterEvent{}}
	for i := range list {
		e := &list[i]
		t := message.TextOf(&e.Event)
		out.Events = append(out.Events, answer.MeterEvent{
			Number: e.Number, Meter: e.Meter, At: e.At, Kind: t.Kind, Code: t.Code, Severity: t.Severity, Detail: e.Detail, Recorded: e.Recorded, Who: e.Who,
		})
	}
	return out, err
}
