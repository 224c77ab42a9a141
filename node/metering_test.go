package node_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
)

const meteringConfig = "devices: []\nmetering:\n  role: mds\n  zone: Europe/Berlin\n"

// smartMeter is a meter with a load profile of 15 minutes.
func smartMeter(id string) answer.MeterEntry {
	return answer.MeterEntry{ID: id, Commodity: "electricity", Channels: []answer.MeterChannel{
		{Number: 1, ReadingType: "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0", Interval: 900, OBIS: "1-0:1.29.0*255"},
	}}
}

// someDay returns the first moment of 3 March 2026 in Berlin.
func someDay(t *testing.T) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, 3, 3, 0, 0, 0, 0, zone)
}

func meterReadings(id string, start time.Time, values ...float64) []answer.MeterReadingIn {
	var list []answer.MeterReadingIn
	for i := range values {
		list = append(list, answer.MeterReadingIn{Meter: id, Channel: 1, End: start.Add(time.Duration(i+1) * 15 * time.Minute).Format(time.RFC3339), Value: &values[i]})
	}
	return list
}

// missingOf waits until as many readings of a day are stored, and returns what is missing.
func missingOf(t *testing.T, c *client.Client, day string, received uint64) (m answer.MeterMissing) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d readings are stored", received), func() bool {
		var err error
		if m, err = client.Do(context.Background(), c, metering.Missing, metering.Lacking{Day: day, Limit: 10}); err != nil {
			t.Fatal(err)
		}
		return m.Received == received
	})
	return m
}

func TestReadingsOfMetersArriveAreValidatedAndStayAsTheyWereKnown(t *testing.T) {
	dir := t.TempDir()
	r := run(t, load(t, dir, listenAnywhere+meteringConfig))
	ctx, start := context.Background(), someDay(t)
	reg, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1"), smartMeter("m2"), {ID: "m3", Commodity: "steam"}}})
	if err != nil || reg.Added != 2 || len(reg.Refused) != 1 || reg.Refused[0].Index != 2 {
		t.Fatalf("registered: %+v, %v", reg, err)
	}
	values := make([]float64, 96)
	for i := range values {
		values[i] = 0.25
	}
	list := meterReadings("m1", start, values...)
	gap := list[40]
	list = append(append(list[:40:40], list[41:]...), answer.MeterReadingIn{Meter: "nobody", Channel: 1, End: gap.End, Value: gap.Value})
	taken, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: list})
	if err != nil || taken.Accepted != 95 || len(taken.Refused) != 1 || taken.Refused[0].Index != 95 {
		t.Fatalf("taken: %+v, %v", taken, err)
	}
	m := missingOf(t, r.Client, "2026-03-03", 95)
	if m.Expected != 192 || m.Channels != 2 || len(m.List[0].Ends) != 1 || m.List[0].Ends[0].Format(time.RFC3339) != start.Add(41*15*time.Minute).UTC().Format(time.RFC3339) {
		t.Errorf("missing: %+v", m)
	}
	j, err := client.Do(ctx, r.Client, metering.Validate, metering.Validation{Day: "2026-03-03"})
	if err != nil || j.Validated != 95 || j.Estimated != 1 {
		t.Fatalf("validated: %+v, %v", j, err)
	}
	span := metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(24 * time.Hour).Format(time.RFC3339)}
	stages := func() map[string]int {
		got, err := client.Do(ctx, r.Client, metering.Readings, span)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		for _, v := range got.Readings {
			out[v.Stage]++
		}
		return out
	}
	if got := stages(); got["validated"] != 95 || got["estimated"] != 1 {
		t.Errorf("stages: %v", got)
	}
	value := 0.3
	if _, err := client.Do(ctx, r.Client, metering.EditReading, metering.Edit{ID: metering.ID{Meter: "m1"}, Channel: 1, End: gap.End, Value: &value, Reason: "read on site"}); err != nil {
		t.Fatal(err)
	}
	if got := stages(); got["edited"] != 1 {
		t.Errorf("after the edit: %v", got)
	}
	r.halt()
	r = run(t, load(t, dir, listenAnywhere+meteringConfig))
	if got := stages(); got["edited"] != 1 || got["validated"] != 95 {
		t.Errorf("after a restart: %v", got)
	}
	for _, o := range r.ledger().Origins {
		if !o.Balanced {
			t.Errorf("the account of %s does not balance: %+v", o.Origin, o)
		}
	}
	again, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: list[:95]})
	if err != nil || again.Accepted != 95 {
		t.Fatalf("again: %+v, %v", again, err)
	}
	one, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: []answer.MeterReadingIn{gap}})
	if err != nil || one.Accepted != 1 {
		t.Fatalf("late: %+v, %v", one, err)
	}
	missingOf(t, r.Client, "2026-03-03", 96)
	span.Versions = true
	if got := stages(); got["raw"] != 96 || got["validated"] != 95 {
		t.Errorf("what came twice is there twice: %v", got)
	}
}

func TestAttackATokenForOneMeterRecordsNoOther(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	ctx, start := context.Background(), someDay(t)
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1"), smartMeter("m2")}}); err != nil {
		t.Fatal(err)
	}
	issued, err := client.Do(ctx, r.Client, tokens.Issue, tokens.Recorder{Name: "m1", Under: "meters/m1"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(r.HTTPAddr(), issued.Token, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := append(meterReadings("m1", start, 1), meterReadings("m2", start, 1)...)
	taken, err := client.Do(ctx, c, metering.Record, metering.Bulk{Readings: list})
	if err != nil || taken.Accepted != 1 || len(taken.Refused) != 1 || taken.Refused[0].Index != 1 {
		t.Errorf("taken: %+v, %v", taken, err)
	}
	value := 1.0
	if _, err := client.Do(ctx, c, metering.EditReading, metering.Edit{ID: metering.ID{Meter: "m1"}, Channel: 1, End: list[0].End, Value: &value, Reason: "x"}); err == nil {
		t.Error("a token for recording edits")
	}
	if _, err := client.Do(ctx, c, metering.Readings, metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: list[0].End, To: list[0].End}); err == nil {
		t.Error("a token for recording reads")
	}
}
