package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/metering"
)

// TestSQLReadsMetersBesideTheHistory asks for meters, readings, versions and events in one statement with the history, and sees at once what
// was stored before it.
func TestSQLReadsMetersBesideTheHistory(t *testing.T) {
	r, _ := meteringNode(t, "meters/m1")
	start := someDay(t)
	if got, err := client.Do(t.Context(), r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", start, 0.125, 0.25)}); err != nil || got.Accepted != 2 {
		t.Fatal(got, err)
	}
	missingOf(t, r.Client, "2026-03-03", 2)
	eve, _ := r.person("eve", identity.Engineer)
	ask := func(text string) string {
		t.Helper()
		out := ""
		_, err := eve.SQL(t.Context(), text, 100, func([]string) error { return nil }, func(row []json.RawMessage) error {
			out += fmt.Sprintf("%s\n", row)
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	}
	const sum = "SELECT meter, day, sum(value), count(*), (SELECT count(*) FROM points) >= 0 FROM readings WHERE day = '2026-03-03' GROUP BY ALL"
	if got := ask(sum); got != `["m1" "2026-03-03" 0.375 2 true]`+"\n" {
		t.Errorf("the day is %s", got)
	}
	if _, err := client.Do(t.Context(), r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", start.Add(time.Hour), 1)}); err != nil {
		t.Fatal(err)
	}
	missingOf(t, r.Client, "2026-03-03", 3)
	value := 0.5
	edit := metering.Edit{ID: metering.ID{Meter: "m1"}, Channel: 1, End: start.Add(15 * time.Minute).Format(time.RFC3339), Value: &value, Reason: "read on site"}
	if _, err := client.Do(t.Context(), r.Client, metering.EditReading, edit); err != nil {
		t.Fatal(err)
	}
	if got := ask(sum); got != `["m1" "2026-03-03" 1.75 3 true]`+"\n" {
		t.Errorf("after a reading and an edit the day is %s", got)
	}
	if got := ask(`SELECT "end", value, stage, reason FROM reading_versions WHERE meter = 'm1' AND reason <> ''`); got != `["2026-03-02T23:15:00.000000Z" 0.5 "edited" "read on site"]`+"\n" {
		t.Errorf("versions: %s", got)
	}
	if _, err := client.Do(t.Context(), r.Client, metering.RecordEvents, metering.Reports{Events: []answer.MeterEventIn{{Meter: "m1", At: start.Format(time.RFC3339), Kind: "last-gasp"}}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the event is in its view", func() bool {
		return ask("SELECT m.meter, m.commodity, c.unit, e.kind FROM meters m JOIN channels c USING (meter) JOIN meter_events e USING (meter)") == `["m1" "electricity" "kWh" "last-gasp"]`+"\n"
	})
	for _, name := range []string{"meters", "channels", "readings", "reading_versions", "meter_events", "samples", "points"} {
		if !strings.Contains(ask("SHOW TABLES"), `"`+name+`"`) {
			t.Errorf("SHOW TABLES does not list %s: %s", name, ask("SHOW TABLES"))
		}
		if !strings.Contains(ask("DESCRIBE "+name), "VARCHAR") {
			t.Errorf("DESCRIBE %s says %s", name, ask("DESCRIBE "+name))
		}
	}
	vic, _ := r.person("vic", identity.Viewer)
	for _, c := range []*client.Client{vic, eve} {
		statement := map[*client.Client]string{vic: sum, eve: "SELECT * FROM m.sealed"}[c]
		_, err := c.SQL(context.Background(), statement, 1, func([]string) error { return nil }, func([]json.RawMessage) error { return nil })
		if !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v, want refused", statement, err)
		}
	}
}

func TestANodeWithoutMeteringSaysWhatSwitchesItOn(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+"devices: []\n"))
	_, err := client.Do(t.Context(), r.Client, metering.Missing, metering.Lacking{Day: "2026-03-03"})
	if err == nil || !strings.Contains(err.Error(), "set metering.role to mds") {
		t.Errorf("error is %v", err)
	}
}
