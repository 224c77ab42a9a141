package metering

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/meter/delivery"
	"voltbus/operation"
)

// ToSend names readings that a concentrator sends again.
type ToSend struct {
	From   string `json:"from" api:"required,max=40" doc:"Intervals that end after it, as 2026-03-01T00:00:00Z"`
	To     string `json:"to" api:"required,max=40" doc:"and not after it"`
	System string `json:"system" api:"max=2048" doc:"The only address to send to, as meter.concentrators lists it; all in turn if left out"`
	After  int    `json:"after" api:"min=0" doc:"The place that the answer before gave; 0 begins with the oldest block of the log"`
}

// SentAgain is what came of sending readings again.
type SentAgain struct {
	Sent     int                    `json:"sent" doc:"Readings that a system took, or had"`
	Refused  int                    `json:"refused" doc:"Readings that a system refused"`
	Refusals []answer.MeterNotTaken `json:"refusals" doc:"The first 200 of them"`
	Oldest   *time.Time             `json:"oldest,omitempty" doc:"When the oldest block was written that was read; earlier ones are not in the log any more"`
	Place    int                    `json:"place" doc:"Up to where in the log all was sent"`
	More     bool                   `json:"more" doc:"Ask again with after, as there is more behind that place"`
	Reason   string                 `json:"reason,omitempty" doc:"Why no system took the readings behind that place"`
}

// Recover is the operation that has a concentrator send readings again.
var Recover = operation.Declare[ToSend, SentAgain](operation.Spec{
	Name: "meter.recover", ID: "recoverMeterReadings", HTTP: "POST /metering/recover", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody, Waits: true, Wait: 2 * time.Minute,
	Summary: "Have this concentrator send readings again that are still in its log", Result: "What was sent within a minute, and whether there is more",
	Doc: "For readings that a metering data system refused or lost. Those that it has are not stored twice.",
})

// sendFor is how long readings are sent again before the answer comes.
const sendFor = time.Minute

func sendAgain(ctx context.Context, p *Part, c *operation.Call, in *ToSend) (SentAgain, error) {
	const op = "meter.recover"
	c.Did(in.From, map[string]any{"to": in.To, "system": in.System, "after": in.After})
	from, err := instant(op, "from", in.From)
	if err != nil {
		return SentAgain{}, err
	}
	to, err := instant(op, "to", in.To)
	if err != nil {
		return SentAgain{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, sendFor)
	defer cancel()
	return p.Concentrator.SendAgain(ctx, delivery.Span{From: from, To: to, System: in.System, After: uint64(in.After)})
}
