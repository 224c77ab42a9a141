// Package sinks declares and carries out the operations on the destinations of readings.
package sinks

import (
	"context"
	"errors"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/query"
	"voltbus/sink/destination"
)

// Destinations are the destinations of a node. See destination.Destinations.
type Destinations interface {
	States(ctx context.Context) []destination.State
	Refused(name string, skip, limit int) ([]destination.Refused, error)
	Resend(ctx context.Context, name string) (accepted int, err error)
	Discard(name string) (int, error)
	Backfill(ctx context.Context, name string, from, to time.Time) error
}

// The arguments.
type (
	// Sink names a destination.
	Sink struct {
		Sink string `json:"sink" api:"required,max=64" doc:"Its name in the configuration"`
	}
	// Page selects readings that were refused.
	Page struct {
		Sink  string `json:"sink" api:"required,max=64" doc:"Its name in the configuration"`
		Skip  int    `json:"skip" api:"query,max=9007199254740992" doc:"So many are passed over"`
		Limit int    `json:"limit" api:"query,min=1,max=10000,default=100" doc:"So many at most"`
	}
	// Span is a part of the history.
	Span struct {
		Sink string         `json:"sink" api:"required,max=64" doc:"Its name in the configuration"`
		From operation.Time `json:"from" api:"required" doc:"First time"`
		To   operation.Time `json:"to" doc:"The time after the last one; now if left out"`
	}
)

const smallBody = 4 << 10

// The operations.
var (
	List = operation.Declare[struct{}, AllSinks](operation.Spec{
		Name: "sinks.list", ID: "listSinks", HTTP: "GET /sinks", Role: identity.Viewer, Remote: true,
		Summary: "List the destinations of readings: what each got, and what waits", Result: "All destinations",
	})
	Refused = operation.Declare[Page, SinkRefusals](operation.Spec{
		Name: "sinks.refused", ID: "listSinkRefusals", HTTP: "GET /sinks/{sink}/refused", Role: identity.Operator, Remote: true,
		Summary: "List the readings that a destination refused and that are kept", Result: "With its reasons",
	})
	Resend = operation.Declare[Sink, SinkCount](operation.Spec{
		Name: "sinks.resend", ID: "resendSinkRefusals", HTTP: "POST /sinks/{sink}/resend", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Send the readings again that a destination refused", Result: "How many it accepted",
	})
	Discard = operation.Declare[Sink, SinkCount](operation.Spec{
		Name: "sinks.discard", ID: "discardSinkRefusals", HTTP: "POST /sinks/{sink}/discard", Role: identity.Engineer, Remote: true, Audited: true,
		Summary: "Discard the readings that a destination refused", Result: "How many were discarded",
		Doc: "The history of the node still has them.",
	})
	Backfill = operation.Declare[Span, operation.None](operation.Spec{
		Name: "sinks.backfill", ID: "backfillSink", HTTP: "POST /sinks/{sink}/backfill", Role: identity.Engineer, Remote: true, Audited: true, Body: smallBody,
		Summary: "Have a destination get a part of the history",
		Doc:     "It is sent beside what is recorded meanwhile, and after a restart continued with the day that was being sent. 409 while another part is being sent.",
	})
)

// Part carries out the operations on destinations.
type Part struct {
	Destinations Destinations // nil for a node that is not running
	Now          func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := []operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Refused, nil, p.refused), operation.Bind(Resend, nil, p.resend),
		operation.Bind(Discard, nil, p.discard), operation.Bind(Backfill, nil, p.backfill),
	}
	if p.Destinations == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *struct{}) (AllSinks, error) {
	states := p.Destinations.States(ctx)
	out := AllSinks{Sinks: make([]SinkState, len(states))}
	for i := range states {
		s := &states[i]
		out.Sinks[i] = SinkState{
			Name: s.Name, Kind: s.Kind, Address: s.Address, Into: s.Into, State: "ok", Samples: s.Samples, Taken: uint64(max(s.Acknowledged, 0)), Balanced: s.Balanced(), Newest: s.Newest, Since: s.Since, Waiting: s.Waiting, Sent: s.Sent, Left: s.Left, Refused: s.Counts.Refused, Kept: s.Kept,
			Accepted: s.Accepted, Discarded: s.Discarded, Withheld: s.Withheld, Held: s.Held, Missing: s.Missing, Filled: s.Filled, From: s.From, To: s.To, Next: s.Next,
		}
		if s.Err != nil {
			out.Sinks[i].State, out.Sinks[i].Reason = "paused", s.Err.Error()
		}
	}
	return out, nil
}

func (p *Part) kept(ctx context.Context, name string) int {
	for _, s := range p.Destinations.States(ctx) {
		if s.Name == name {
			return s.Kept
		}
	}
	return 0
}

func (p *Part) refused(ctx context.Context, _ *operation.Call, in *Page) (out SinkRefusals, err error) {
	list, err := p.Destinations.Refused(in.Sink, in.Skip, in.Limit)
	if err != nil {
		return out, err
	}
	out = SinkRefusals{Refusals: make([]SinkRefusal, len(list)), Kept: p.kept(ctx, in.Sink)}
	for i := range list {
		r := &list[i]
		out.Refusals[i] = SinkRefusal{Point: r.Point, Time: r.Time, Value: r.Value, Quality: r.Quality, Refused: r.At, Reason: r.Reason}
	}
	return out, nil
}

func (p *Part) resend(ctx context.Context, c *operation.Call, in *Sink) (out SinkCount, err error) {
	c.Did(in.Sink, nil)
	out.Readings, err = p.Destinations.Resend(ctx, in.Sink)
	out.Kept = p.kept(ctx, in.Sink)
	return out, err
}

func (p *Part) discard(_ context.Context, c *operation.Call, in *Sink) (out SinkCount, err error) {
	c.Did(in.Sink, nil)
	out.Readings, err = p.Destinations.Discard(in.Sink)
	return out, err
}

var errSpan = errors.New("must be before to")

func (p *Part) backfill(ctx context.Context, c *operation.Call, in *Span) (none operation.None, err error) {
	const op = "sinks.backfill"
	now := p.Now()
	to := now
	from, err := query.ParseTime(string(in.From), now)
	if err != nil {
		return none, fault.E(op, fault.Invalid, "from", err)
	}
	if in.To != "" {
		if to, err = query.ParseTime(string(in.To), now); err != nil {
			return none, fault.E(op, fault.Invalid, "to", err)
		}
	}
	if !from.Before(to) {
		return none, fault.E(op, fault.Invalid, "from", errSpan)
	}
	c.Did(in.Sink, map[string]any{"from": from.UTC().Format(time.RFC3339), "to": to.UTC().Format(time.RFC3339)})
	return none, p.Destinations.Backfill(ctx, in.Sink, from, to)
}
