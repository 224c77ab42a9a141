package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/metering"
)

func TestAFullDiskRefusesReadingsOfMetersAndLosesNone(t *testing.T) {
	t.Parallel()
	dir, data := smallDisk(t)
	r := run(t, load(t, dir, listenAnywhere+"log: {min_free: 200MiB}\n"+meteringConfig))
	ctx, start := context.Background(), someDay(t)
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	list := meterReadings("m1", start, make([]float64, 96)...)
	send := func(list []answer.MeterReadingIn) error {
		taken, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: list})
		if err == nil && taken.Accepted != len(list) {
			t.Errorf("taken: %+v", taken)
		}
		return err
	}
	if err := send(list[:40]); err != nil {
		t.Fatal(err)
	}
	missingOf(t, r.Client, "2026-03-03", 40)
	ballast := filepath.Join(data, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 220<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	paused := make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() { // the first that finds the disk full waits for room, and is answered then
		for {
			if err := send(list[40:60]); err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("who waits for room: %v", err)
			}
			select {
			case <-paused:
				return
			default:
			}
		}
	})
	eventually(t, "the ledger says that recording is paused", func() bool { return r.ledger().State == "paused" })
	close(paused)
	if err := send(list[60:80]); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "make room") {
		t.Errorf("on a full disk: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	eventually(t, "readings are taken again", func() bool { return send(list[40:]) == nil })
	missingOf(t, r.Client, "2026-03-03", 96)
	if j, err := client.Do(ctx, r.Client, metering.Validate, metering.Validation{Day: "2026-03-03"}); err != nil || j.Validated != 96 {
		t.Errorf("validated: %+v, %v", j, err)
	}
}

// A sender repeats what was not answered: the node may have been killed before the commit, or between the commit and the answer.
func TestAMeteringSystemThatIsKilledHasEachReadingOnce(t *testing.T) {
	dir, start := t.TempDir(), someDay(t)
	next := 0
	reading := func(n int) []answer.MeterReadingIn {
		value := float64(n)
		return []answer.MeterReadingIn{{Meter: "m1", Channel: 1, End: start.Add(time.Duration(n+1) * 15 * time.Minute).Format(time.RFC3339), Value: &value}}
	}
	for round := range 4 {
		r, kill := concentratorProcess(t, dir, listenAnywhere+meteringConfig)
		if round == 0 {
			if _, err := client.Do(t.Context(), r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
				t.Fatal(err)
			}
		}
		enough := make(chan struct{})
		ready := sync.OnceFunc(func() { close(enough) })
		var sending sync.WaitGroup
		sending.Go(func() {
			defer ready()
			for n := 0; next < 96; n++ {
				if n == 10 {
					ready()
				}
				if _, err := client.Do(context.Background(), r.Client, metering.Record, metering.Bulk{Readings: reading(next)}); err != nil {
					return // killed: it may be stored or not, and goes again
				}
				next++
			}
		})
		<-enough
		kill()
		sending.Wait()
	}
	r, kill := concentratorProcess(t, dir, listenAnywhere+meteringConfig)
	defer kill()
	for ; next < 96; next++ {
		if _, err := client.Do(t.Context(), r.Client, metering.Record, metering.Bulk{Readings: reading(next)}); err != nil {
			t.Fatal(err)
		}
	}
	missingOf(t, r.Client, "2026-03-03", 96)
	got, err := client.Do(t.Context(), r.Client, metering.Readings, metering.Span{
		ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(24 * time.Hour).Format(time.RFC3339), Versions: true,
	})
	if err != nil || len(got.Readings) != 96 {
		t.Fatalf("%d versions of 96 readings, %v", len(got.Readings), err)
	}
	for i, v := range got.Readings {
		if v.Value != float64(i) {
			t.Errorf("reading %d is %+v", i, v)
		}
	}
}

func TestAttackAnEditByAPersonWithoutTheRightChangesNothing(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+meteringConfig))
	ctx, start := context.Background(), someDay(t)
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	list := meterReadings("m1", start, 1)
	if _, err := client.Do(ctx, r.Client, metering.Record, metering.Bulk{Readings: list}); err != nil {
		t.Fatal(err)
	}
	missingOf(t, r.Client, "2026-03-03", 1)
	value := 7.0
	for _, c := range []struct {
		role    identity.Role
		allowed bool
	}{{identity.Viewer, false}, {identity.Operator, false}, {identity.Engineer, true}} {
		who, _ := r.person(fmt.Sprintf("p%d", c.role), c.role)
		_, err := client.Do(ctx, who, metering.EditReading, metering.Edit{ID: metering.ID{Meter: "m1"}, Channel: 1, End: list[0].End, Value: &value, Reason: "read on site"})
		if c.allowed != (err == nil) || err != nil && !fault.Is(err, fault.Refused) {
			t.Errorf("role %v: %v", c.role, err)
		}
		got, err := client.Do(ctx, r.Client, metering.Readings, metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: start.Format(time.RFC3339), To: start.Add(time.Hour).Format(time.RFC3339), Versions: true})
		edited := 0
		for _, v := range got.Readings {
			if v.Stage == "edited" {
				edited++
			}
		}
		if err != nil || (edited > 0) != c.allowed {
			t.Errorf("role %v: %d edits are there, %v", c.role, edited, err)
		}
	}
}
