package node_test

import (
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	"voltbus/meter/message/greenbutton"
	"voltbus/operation/metering"
)

func TestAGreenButtonFileOfAMeterIsReadIntoAnother(t *testing.T) {
	r, token := meteringNode(t, "meters/m2")
	start := someDay(t)
	values := []float64{0.125, 0.25, 0.5, 1.001}
	if got, err := client.Do(t.Context(), r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", start, values...)}); err != nil || got.Accepted != len(values) {
		t.Fatal(got, err)
	}
	missingOf(t, r.Client, "2026-03-03", uint64(len(values)))
	span := metering.Customer{Meter: "m1", From: start.Format(time.RFC3339), To: start.Add(time.Hour).Format(time.RFC3339)}
	var file strings.Builder
	if _, err := client.Copy(t.Context(), r.Client, metering.GreenButton, span, &file); err != nil {
		t.Fatal(err)
	}
	if status, got := r.deliver(token, "messages", greenbutton.Media+"; type=feed", file.String()); status != 200 || strings.Count(got, "this token may not record readings of this meter") != len(values) {
		t.Errorf("a token of another meter: %d %s", status, got)
	}
	other := strings.ReplaceAll(file.String(), "UsagePoint/m1", "UsagePoint/m2")
	if status, got := r.deliver(token, "messages", greenbutton.Media, other); status != 200 || got != `{"accepted":4,"refused":[]}` {
		t.Errorf("%d %s", status, got)
	}
	if status, got := r.deliver(token, "messages", greenbutton.Media, strings.ReplaceAll(file.String(), "UsagePoint/m1", "UsagePoint/m3")); status != 200 ||
		strings.Count(got, "no meter is registered with the last part of the address of the UsagePoint") != len(values) {
		t.Errorf("a meter that nobody knows: %d %s", status, got)
	}
	missingOf(t, r.Client, "2026-03-03", 2*uint64(len(values)))
	far, err := client.Do(t.Context(), r.Client, metering.Progress, metering.LocalDay{Day: "2026-03-03"})
	if err != nil || len(far.Hours) != 24 || far.Hours[0].Expected != 8 || far.Hours[0].Received != 8 || far.Hours[1].Received != 0 || far.Arrived[0].Readings != 0 {
		t.Errorf("the day is as far as %+v, %v", far, err)
	}
	got, err := client.Do(t.Context(), r.Client, metering.Readings, metering.Span{ID: metering.ID{Meter: "m2"}, Channel: 1, From: span.From, To: span.To})
	if err != nil || len(got.Readings) != len(values) {
		t.Fatal(got, err)
	}
	for i, v := range got.Readings {
		if v.Value != values[i] || v.Stage != "raw" {
			t.Errorf("reading %d: %+v, want %v", i, v, values[i])
		}
	}
	for _, tt := range []struct {
		change func(*metering.Customer)
		want   string
	}{
		{func(c *metering.Customer) { c.Meter = "nobody" }, "no meter is registered"},
		{func(c *metering.Customer) { c.Channel = 9 }, "the meter has no such channel"},
		{func(c *metering.Customer) { c.To = c.From }, "to must be later than from"},
		{func(c *metering.Customer) { c.To = "2030-01-01T00:00:00Z" }, "more than 400 days"},
		{func(c *metering.Customer) { c.From = "yesterday" }, "write such as"},
	} {
		wrong := span
		tt.change(&wrong)
		if _, err := client.Copy(t.Context(), r.Client, metering.GreenButton, wrong, &file); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %s", wrong, err, tt.want)
		}
	}
}
