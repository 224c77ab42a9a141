package metering

import (
	"context"

	"voltbus/identity"
	"voltbus/meter/store"
	"voltbus/operation"
	"voltbus/operation/metering/account"
)

// LocalDay names a day.
type LocalDay struct {
	Day string `json:"day" api:"required,max=10" doc:"The local day, such as 2026-03-01"`
}

// Progress is the operation that reports the progress of a day.
var Progress = operation.Declare[LocalDay, account.MeterProgress](operation.Spec{
	Name: "meter.progress", ID: "getMeterProgress", HTTP: "GET /metering/progress", Role: identity.Viewer,
	Summary: "Count the intervals of a day by hour and state, and how late readings came", Result: "Counts of all channels with intervals",
})

func (p *Part) progress(ctx context.Context, _ *operation.Call, in *LocalDay) (account.MeterProgress, error) {
	d, err := day("meter.progress", in.Day)
	if err != nil {
		return account.MeterProgress{}, err
	}
	if p.Counted == nil {
		return account.MeterProgress{}, operation.NotHere("meter.progress")
	}
	found, err := p.Counted.Progress(ctx, d)
	if err != nil {
		return account.MeterProgress{}, err
	}
	out := account.MeterProgress{Day: d.String(), Hours: make([]account.MeterHour, len(found.Hours)), Arrived: []account.MeterArrival{}}
	for i, h := range found.Hours {
		out.Hours[i] = account.MeterHour(h)
	}
	for i, limit := range store.Delays() {
		out.Arrived = append(out.Arrived, account.MeterArrival{Within: limit.Seconds(), Readings: found.Within[i]})
	}
	return out, nil
}
