package node_test

import (
	"context"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/documents"
	"voltbus/operation/metering"
)

var peakTariff = `{"zone": "Europe/Berlin", "periods": ["peak", "off-peak"], "seasons": [{"name": "year", "from": "01-01", "dayTypes": [
  {"name": "all", "days": ["mon","tue","wed","thu","fri","sat","sun"], "schedule": [{"from": "00:00", "period": "off-peak"}, {"from": "06:00", "period": "peak"}, {"from": "22:00", "period": "off-peak"}]}]}]}`

// A bill is what it was at the moment it was made, whatever is corrected after it.
func TestABillIsReproducedAsItWasKnown(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	ctx, start := context.Background(), someDay(t)
	entry := smartMeter("m1")
	entry.ServicePoint, entry.Premises, entry.From = "sp-1", "p-1", &start
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{entry}}); err != nil {
		t.Fatal(err)
	}
	values := make([]float64, 96)
	for i := range values {
		values[i] = 0.25
	}
	values[40] = 2
	if taken, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", start, values...)}); err != nil || taken.Accepted != 96 {
		t.Fatalf("taken: %+v, %v", taken, err)
	}
	missingOf(t, r.Client, "2026-03-03", 96)
	if _, err := client.Do(ctx, r.Client, documents.Set, documents.Text{Key: documents.Key{Owner: "shared", Name: metering.Tariffs + "households"}, Text: &peakTariff, Type: "json"}); err != nil {
		t.Fatal(err)
	}
	q := metering.Billing{ServicePoint: "sp-1", Channel: 1, From: "2026-03-03", To: "2026-03-04", Tariff: "households", Window: 15}
	first, err := client.Do(ctx, r.Client, metering.Bill, q)
	if err != nil {
		t.Fatal(err)
	}
	if p := first.Periods; len(p) != 2 || p[0].Period != "peak" || p[0].Quantity != 63*0.25+2 || p[1].Quantity != 8 || p[0].Demand.Demand != 8 || first.Unit != "kWh" || first.TariffVersion != 1 {
		t.Fatalf("the bill: %+v", first)
	}
	end, value := start.Add(41*15*time.Minute).Format(time.RFC3339), 0.5
	id := metering.ID{Meter: "m1"}
	raw, err := client.Do(ctx, r.Client, metering.Readings, metering.Span{ID: id, Channel: 1, From: start.Format(time.RFC3339), To: end})
	if err != nil || len(raw.Readings) != 41 {
		t.Fatalf("readings: %+v, %v", raw, err)
	}
	eventually(t, "the second is over in which the readings were recorded", func() bool { return time.Now().After(raw.Readings[40].Recorded) })
	if _, err := client.Do(ctx, r.Client, metering.EditReading, metering.Edit{ID: id, Channel: 1, End: end, Value: &value, Reason: "wrong by a factor of four"}); err != nil {
		t.Fatal(err)
	}
	now, err := client.Do(ctx, r.Client, metering.Bill, q)
	if err != nil || now.Periods[0].Quantity != 63*0.25+0.5 || now.Periods[0].Edited != 1 {
		t.Errorf("after the correction: %+v, %v", now, err)
	}
	q.KnownAt = raw.Readings[40].Recorded.Format(time.RFC3339)
	then, err := client.Do(ctx, r.Client, metering.Bill, q)
	if err != nil || then.Periods[0].Quantity != first.Periods[0].Quantity || then.Periods[0].Edited != 0 {
		t.Errorf("as it was known: %+v, %v", then, err)
	}
	for _, wrong := range []metering.Billing{
		{From: "2026-03-03", To: "2026-03-04"},
		{Meter: "m1", ServicePoint: "sp-1", From: "2026-03-03", To: "2026-03-04"},
		{Meter: "m1", From: "2026-03-04", To: "2026-03-03"},
		{Meter: "m1", From: "yesterday", To: "2026-03-03"},
		{Meter: "m2", From: "2026-03-03", To: "2026-03-04"},
		{Meter: "m1", Channel: 9, From: "2026-03-03", To: "2026-03-04"},
		{Meter: "m1", From: "2026-03-03", To: "2026-03-04", Tariff: "none"},
		{Meter: "m1", From: "2026-03-03", To: "2026-03-04", Window: 7},
		{Meter: "m1", From: "2020-03-03", To: "2026-03-04"},
	} {
		if b, err := client.Do(ctx, r.Client, metering.Bill, wrong); err == nil {
			t.Errorf("%+v is billed: %+v", wrong, b)
		}
	}
}
