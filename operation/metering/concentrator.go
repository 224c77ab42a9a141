package metering

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/meter/delivery"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// Nothing is the arguments of operations without any.
type Nothing struct{}

// Concentrators is the operation that reports on concentrators.
var Concentrators = operation.Declare[Nothing, answer.MeterConcentrators](operation.Spec{
	Name: "meter.concentrators", ID: "listMeterConcentrators", HTTP: "GET /metering/concentrators", Role: identity.Viewer, Remote: true,
	Summary: "Tell what this node does as a concentrator of meters", Result: "What it took, sent and still has; none if the node is no concentrator",
})

// Concentrator reports the state of a concentrator, and makes it send again.
type Concentrator interface {
	Concentrates(now time.Time) answer.MeterConcentrator
	// SendAgain sends readings in the log again, see delivery.Delivery.
	SendAgain(ctx context.Context, s delivery.Span) (SentAgain, error)
}

func (p *Part) concentrators(context.Context, *operation.Call, *Nothing) (answer.MeterConcentrators, error) {
	out := answer.MeterConcentrators{System: p.Store != nil, Concentrators: []answer.MeterConcentrator{}}
	if p.Concentrator != nil {
		out.Concentrators = append(out.Concentrators, p.Concentrator.Concentrates(p.Now()))
	}
	return out, nil
}

// SentAgain is the outcome of sending readings again.
type SentAgain struct {
	Sent     int                    `json:"sent" doc:"Readings that a system took, or had"`
	Refused  int                    `json:"refused" doc:"Readings that a system refused"`
	Refusals []answer.MeterNotTaken `json:"refusals" doc:"The first 200 of them"`
	Oldest   *time.Time             `json:"oldest,omitempty" doc:"When the oldest block was written that was read; earlier ones are not in the log any more"`
	Place    int                    `json:"place" doc:"Up to where in the log all was sent"`
	More     bool                   `json:"more" doc:"Ask again with after, as there is more behind that place"`
	Reason   string                 `json:"reason,omitempty" doc:"Why no system took the readings behind that place"`
}

// Recover is the operation that makes a concentrator send readings again.
var Recover = operation.Declare[account.ToSend, SentAgain](operation.Spec{
	Name: "meter.recover", ID: "recoverMeterReadings", HTTP: "POST /metering/recover", Role: identity.Operator, Remote: true, Audited: true, Body: smallBody, Waits: true, Wait: 2 * time.Minute,
	Summary: "Have this concentrator send readings again that are still in its log", Result: "What was sent within a minute, and whether there is more",
	Doc: "For readings that a metering data system refused or lost. Those that it has are not stored twice.",
})

// sendFor is how long a request to send readings again runs before it is answered.
const sendFor = time.Minute

func sendAgain(ctx context.Context, p *Part, c *operation.Call, in *account.ToSend) (SentAgain, error) {
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
