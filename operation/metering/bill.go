package metering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/meter/bill"
	"voltbus/meter/billing"
	"voltbus/operation"
)

// Billing requests the determinants of a bill.
type Billing struct {
	Meter        string `json:"meter" api:"query,max=64" doc:"The meter; or else servicePoint"`
	ServicePoint string `json:"servicePoint" api:"query,max=64" doc:"All meters that were at this service point"`
	Channel      int    `json:"channel" api:"min=1,max=65535,default=1" doc:"Of the consumption: a load profile"`
	Export       int    `json:"export" api:"min=0,max=65535,default=0" doc:"Of what was fed in: a load profile; 0 for none"`
	From         string `json:"from" api:"required,max=10" doc:"The first local day, such as 2026-03-01"`
	To           string `json:"to" api:"required,max=10" doc:"The local day behind the last one, such as 2026-04-01"`
	KnownAt      string `json:"knownAt" api:"max=40" doc:"As it was known at this moment; now if left out"`
	Tariff       string `json:"tariff" api:"max=64" doc:"The name of a tariff: the shared document metering/tariffs/<name>; one period if left out"`
	Window       int    `json:"window" api:"min=0,max=60,default=0" doc:"Minutes over which demand is averaged; 0 for no demand"`
	Rolling      bool   `json:"rolling" doc:"A window of demand ends with each interval; otherwise windows follow each other"`
}

// Bill is the operation that computes the determinants of a bill.
var Bill = operation.Declare[Billing, answer.MeterBill](operation.Spec{
	Name: "meter.bill", ID: "getMeterBill", HTTP: "GET /metering/bill", Role: identity.Viewer,
	Summary: "Compute the determinants of a bill, as they are or were known",
	Result:  "Consumption and demand by period of the tariff, net metering, and registers at the bill dates; quantities, no money",
})

// Tariffs is the prefix of the shared documents that hold tariffs; the name of the tariff follows.
const Tariffs = "metering/tariffs/"

func (p *Part) bill(ctx context.Context, _ *operation.Call, in *Billing) (answer.MeterBill, error) {
	const op = "meter.bill"
	q := bill.Query{Meter: in.Meter, ServicePoint: in.ServicePoint, Channel: in.Channel, Export: in.Export, Zone: p.Zone, Known: p.Now().Add(time.Hour)} // times of recording are rounded up
	var err error
	if q.From, err = p.firstMoment(op, "from", in.From); err != nil {
		return answer.MeterBill{}, err
	}
	if q.To, err = p.firstMoment(op, "to", in.To); err != nil {
		return answer.MeterBill{}, err
	}
	if q.To.Sub(q.From) > mostBilled {
		return answer.MeterBill{}, fault.E(op, fault.Invalid, "to", errLongBill)
	}
	if in.KnownAt != "" {
		if q.Known, err = instant(op, "knownAt", in.KnownAt); err != nil {
			return answer.MeterBill{}, err
		}
	}
	q.Window = billing.Window{Length: time.Duration(in.Window) * time.Minute, Rolling: in.Rolling}
	out := answer.MeterBill{From: q.From, To: q.To, Tariff: in.Tariff}
	if in.Tariff != "" {
		if q.Tariff, out.TariffVersion, err = p.tariff(ctx, in.Tariff); err != nil {
			return answer.MeterBill{}, err
		}
	}
	r, err := bill.Determine(ctx, p.Store, &q)
	if err != nil {
		return answer.MeterBill{}, err
	}
	billed(&out, r)
	return out, nil
}

// mostBilled is the longest period of a bill: a year, plus the margin by which bill dates move.
const mostBilled = 400 * 24 * time.Hour

var errLongBill = errors.New("more than 400 days: ask for shorter bills")

// firstMoment returns the beginning of a local day.
func (p *Part) firstMoment(op, field, text string) (time.Time, error) {
	t, err := time.ParseInLocation(time.DateOnly, text, p.Zone)
	if err != nil {
		return t, fault.E(op, fault.Invalid, field, fmt.Errorf("%q: write a day, such as 2026-03-01", text))
	}
	return t, nil
}

func (p *Part) tariff(ctx context.Context, name string) (*billing.Tariff, int, error) {
	const op = "meter.bill"
	text, version, err := p.Document(ctx, Tariffs+name)
	if fault.Is(err, fault.NotFound) {
		return nil, 0, fault.E(op, fault.NotFound, name, fmt.Errorf("there is no such tariff: store it as the shared document %s%s", Tariffs, name))
	}
	if err != nil {
		return nil, 0, err
	}
	t := &billing.Tariff{}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, 0, fault.E(op, fault.Invalid, name, fmt.Errorf("the tariff cannot be read: %w", err))
	}
	return t, version, nil
}

// billed converts a result to the answer.
func billed(out *answer.MeterBill, r *bill.Result) {
	out.Unit, out.Stray, out.Meters = r.Unit, r.Stray, r.Meters
	out.Periods = make([]answer.MeterPeriod, len(r.Use))
	for i, u := range r.Use {
		out.Periods[i] = answer.MeterPeriod{Period: u.Period, Quantity: u.Quantity, Intervals: u.Intervals, Missing: u.Missing, Estimated: u.Estimated, Edited: u.Edited}
	}
	for i, k := range r.Peaks {
		d := &answer.MeterDemand{Demand: k.Demand, Windows: k.Windows, Incomplete: k.Incomplete}
		if k.Windows > 0 {
			d.End = &r.Peaks[i].End
		}
		out.Periods[i].Demand = d
	}
	for i, n := range r.Net {
		out.Periods[i].Net = &answer.MeterNet{
			Import: n.Import, Export: n.Export, Net: n.Net, NetImport: n.NetImport, NetExport: n.NetExport, Missing: n.MissingPair,
		}
	}
	out.Registers = []answer.MeterRegister{}
	for _, g := range r.Registers {
		one := answer.MeterRegister{Meter: g.Meter, Channel: g.Channel, Unit: g.Unit, Unknown: g.Unknown}
		if g.Unknown == "" {
			one.First, one.Last, one.Used, one.Interpolated = g.First.Value, g.Last.Value, g.Used, g.First.Interpolated || g.Last.Interpolated
		}
		out.Registers = append(out.Registers, one)
	}
}
