package node_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/metering"
	"voltbus/testing/peers"
)

// meterDatabase is the rest of meteringConfig that has readings kept in a server.
func meterDatabase(server *peers.PostgreSQL) string {
	return fmt.Sprintf("  store: {engine: postgres, url: %q}\n", server.URL("voltbus", "voltbus"))
}

// Killed between a commit in the database and what comes behind it, as everywhere else.
func TestDatabaseOfReadingsKilledNodeHasEveryAcknowledgedReadingOnce(t *testing.T) {
	t.Parallel()
	killWhileItValidates(t, meterDatabase(peers.StartedPostgreSQL(t)))
}

func TestDatabaseOfReadingsThatIsAwayGetsThemFromTheLogWhenItIsBack(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*peers.PostgreSQL) error{"stopped": (*peers.PostgreSQL).Stop, "killed": (*peers.PostgreSQL).Kill} {
		t.Run(name, func(t *testing.T) {
			server := peers.StartedPostgreSQL(t)
			dir, text := t.TempDir(), listenAnywhere+meteringConfig+meterDatabase(server)
			r := run(t, load(t, dir, text))
			ctx, start := context.Background(), someDay(t)
			if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
				t.Fatal(err)
			}
			record := func(at time.Time, values ...float64) {
				t.Helper()
				taken, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", at, values...)})
				if err != nil || taken.Accepted != len(values) {
					t.Fatalf("taken: %+v, %v", taken, err)
				}
			}
			record(start, 1, 2, 3)
			missingOf(t, r.Client, "2026-03-03", 3)
			if err := end(server); err != nil {
				t.Fatal(err)
			}
			record(start.Add(45*time.Minute), 4, 5) // acknowledged: on the disk of the node
			eventually(t, "the ledger shows what waits", func() bool {
				for _, o := range r.ledger().Origins {
					if o.BacklogSamples > 0 {
						return true
					}
				}
				return false
			})
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			missingOf(t, r.Client, "2026-03-03", 5)
			span := metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.AddDate(0, 0, 1).Format(time.RFC3339), Versions: true}
			got, err := client.Do(ctx, r.Client, metering.Readings, span)
			if err != nil || len(got.Readings) != 5 {
				t.Errorf("%d versions, %v, want 5", len(got.Readings), err)
			}
			if j, err := client.Do(ctx, r.Client, metering.Validate, metering.Validation{Day: "2026-03-03"}); err != nil || j.Validated != 5 {
				t.Errorf("validated: %+v, %v", j, err)
			}
		})
	}
}

// A statement reads the readings of meters beside the history, and nothing else of the same schema.
func TestDatabaseOfReadingsIsAskedInSQL(t *testing.T) {
	server := peers.StartedPostgreSQL(t)
	text := listenAnywhere + fmt.Sprintf("store: {engine: postgres, url: %q}\n", server.URL("voltbus", "voltbus")) + meteringConfig + "  store: {engine: postgres}\n"
	r := run(t, load(t, t.TempDir(), text))
	ctx, start := context.Background(), someDay(t)
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: meterReadings("m1", start, 1, 2.5)}); err != nil {
		t.Fatal(err)
	}
	missingOf(t, r.Client, "2026-03-03", 2)
	rows := ""
	ask := func(statement string) error {
		rows = ""
		_, err := r.SQL(ctx, statement, 10, func([]string) error { return nil }, func(row []jsonRaw) error {
			rows += fmt.Sprintf("%s\n", row)
			return nil
		})
		return err
	}
	if err := ask("SELECT meter, sum(value) FROM readings, (SELECT count(*) FROM samples) s GROUP BY meter"); err != nil || rows != "[\"m1\" 3.5]\n" {
		t.Errorf("rows %q, %v", rows, err)
	}
	if err := ask("SELECT stage FROM reading_versions"); err != nil || rows != "[\"raw\"]\n[\"raw\"]\n" {
		t.Errorf("rows %q, %v", rows, err)
	}
	for _, statement := range []string{"SELECT * FROM meter_source", "SELECT * FROM meter_version", "SELECT * FROM meter"} {
		if err := ask(statement); !fault.Is(err, fault.Refused) {
			t.Errorf("%s: %v, want refused", statement, err)
		}
	}
}
