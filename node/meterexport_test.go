package node_test

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/metering"
	"voltbus/testing/peers"
)

// shows prints a Parquet file as pandas reads it.
const shows = `
import pandas, sys
table = pandas.read_parquet(sys.argv[1])
print([str(t) for t in table.dtypes[["channel", "end", "value"]]])
for row in table.fillna('').itertuples():
    print(row.meter, row.channel, row.end.isoformat(), row.value, row.unit, row.stage, row.reason)
`

func TestReadingsOfManyMetersAreExported(t *testing.T) {
	r, _ := meteringNode(t, "meters/m1")
	start := someDay(t)
	if _, err := client.Do(t.Context(), r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("other")}}); err != nil {
		t.Fatal(err)
	}
	list := append(append(meterReadings("m1", start, 0.125, 0.25), meterReadings("m2", start, 1e-7)...), meterReadings("other", start, 7)...)
	if got, err := client.Do(t.Context(), r.Client, metering.Record, metering.Bulk{Readings: list}); err != nil || got.Accepted != 4 {
		t.Fatal(got, err)
	}
	missingOf(t, r.Client, "2026-03-03", 4)
	value := 0.5
	edit := metering.Edit{ID: metering.ID{Meter: "m1"}, Channel: 1, End: list[0].End, Value: &value, Reason: `read "on site", twice`}
	if _, err := client.Do(t.Context(), r.Client, metering.EditReading, edit); err != nil {
		t.Fatal(err)
	}
	in := metering.File{Meters: "m[12]", From: start.Format(time.RFC3339), To: start.Add(time.Hour).Format(time.RFC3339)}
	var text strings.Builder
	if _, err := client.Copy(t.Context(), r.Client, metering.Export, in, &text); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
	if err != nil || len(rows) != 4 || strings.Join(rows[1][:6], " ") != "m1 1 2026-03-02T23:15:00Z 0.5 kWh edited" || rows[1][10] != edit.Reason || rows[3][3] != "1e-07" {
		t.Errorf("%v: %q", err, rows)
	}
	in.Versions = true
	text.Reset()
	if _, err := client.Copy(t.Context(), r.Client, metering.Export, in, &text); err != nil || strings.Count(text.String(), "\n") != 5 || !strings.Contains(text.String(), ",0.125,kWh,raw,") {
		t.Errorf("with all versions: %v\n%s", err, text.String())
	}
	in.Versions, in.Format = false, "parquet"
	name := filepath.Join(t.TempDir(), "readings.parquet")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Copy(t.Context(), r.Client, metering.Export, in, file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), peers.Python(t), "-c", shows, name).CombinedOutput()
	want := `['int32', 'datetime64[us, UTC]', 'float64']
m1 1 2026-03-02T23:15:00+00:00 0.5 kWh edited read "on site", twice
m1 1 2026-03-02T23:30:00+00:00 0.25 kWh raw 
m2 1 2026-03-02T23:15:00+00:00 1e-07 kWh raw 
`
	if err != nil || string(got) != want {
		t.Errorf("%v: pandas reads\n%s\nwant\n%s", err, got, want)
	}
	in.Meters = "[m"
	if _, err := client.Copy(t.Context(), r.Client, metering.Export, in, &text); err == nil || !strings.Contains(err.Error(), "write a pattern") {
		t.Errorf("a wrong pattern: %v", err)
	}
}
