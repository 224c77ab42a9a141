package metering

import (
	"context"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/meter/delivery"
	"voltbus/operation"
)

// Nothing is no argument.
type Nothing struct{}

// Concentrators is the operation that says what concentrators do.
var Concentrators = operation.Declare[Nothing, answer.MeterConcentrators](operation.Spec{
	Name: "meter.concentrators", ID: "listMeterConcentrators", HTTP: "GET /metering/concentrators", Role: identity.Viewer, Remote: true,
	Summary: "Tell what this node does as a concentrator of meters", Result: "What it took, sent and still has; none if the node is no concentrator",
})

// Concentrator reports the state of a concentrator, and has it send again.
type Concentrator interface {
	Concentrates(now time.Time) answer.MeterConcentrator
	// SendAgain sends readings of the log again, see delivery.Delivery.
	SendAgain(ctx context.Context, s delivery.Span) (SentAgain, error)
}

func (p *Part) concentrators(context.Context, *operation.Call, *Nothing) (answer.MeterConcentrators, error) {
	out := answer.MeterConcentrators{System: p.Store != nil, Concentrators: []answer.MeterConcentrator{}}
	if p.Concentrator != nil {
		out.Concentrators = append(out.Concentrators, p.Concentrator.Concentrates(p.Now()))
	}
	return out, nil
}
