package node_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/metering"
	"voltbus/operation/tokens"
	"voltbus/testing/link"
)

// A descendant may send readings of meters that are registered there and not here. They wait here, as far as there is room.
func TestAttackAChildFillsItsParentWithReadingsOfUnknownMeters(t *testing.T) {
	t.Parallel()
	const most = 400
	p := &pair{t: t, way: link.New(t)}
	p.parent = run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere+meteringConfig+fmt.Sprintf("  unregistered: %d\n", most)))
	p.way.Lead(p.parent.BusAddr())
	p.child = run(t, nodeOf(t, t.TempDir(), "plant", listenAnywhere+meteringConfig))
	below(t, p.parent, p.child, p.way.Addr(), "")
	p.connected()
	ctx, start := t.Context(), someDay(t)
	register := func(c *client.Client, ids ...string) {
		t.Helper()
		var list []answer.MeterEntry
		for _, id := range ids {
			list = append(list, smartMeter(id))
		}
		if _, err := client.Do(ctx, c, metering.Register, metering.Registration{Meters: list}); err != nil {
			t.Fatal(err)
		}
	}
	register(p.child.Client, "m1", "m2", "m3")
	register(p.parent.Client, "m1")
	day := make([]float64, 96)
	send := func(id string) {
		t.Helper()
		taken, err := client.Do(ctx, p.child.Client, metering.Record, metering.Bulk{Readings: meterReadings(id, start, day...)})
		if err != nil || taken.Accepted != len(day) {
			t.Fatalf("the child took %+v, %v", taken, err)
		}
	}
	send("m1")
	missingOf(t, p.parent.Client, "2026-03-03", 96)
	send("m2") // 96 of the 100 that one node may have waiting
	send("m3")
	eventually(t, "the parent says that there is no room, and what to do", func() bool {
		for _, c := range p.parent.Node.Health(ctx).Concerns {
			if c.Subject == "plant" && strings.Contains(c.Sentence, "sends readings of meters that are not registered here: 96 wait already, and there is room for 100 of them") {
				return true
			}
		}
		return false
	})
	register(p.parent.Client, "m2", "m3")
	p.child.halt()
	p.again(p.child) // and asks again at once
	eventually(t, "what waited at both nodes is stored", func() bool {
		m, err := client.Do(ctx, p.parent.Client, metering.Missing, metering.Lacking{Day: "2026-03-03", Limit: 10})
		return err == nil && m.Received == 3*96
	})
}

func TestAttackRatesOfMeterReadingsAreBounded(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere+"ingest: {samples: 1}\n"+meteringConfig))
	if _, err := client.Do(t.Context(), r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{smartMeter("m1")}}); err != nil {
		t.Fatal(err)
	}
	issued, err := client.Do(t.Context(), r.Client, tokens.Issue, tokens.Recorder{Name: "m1", Under: "meters/m1"})
	if err != nil {
		t.Fatal(err)
	}
	many := "meter,channel,end,value\n" + strings.Repeat("m1,1,"+someDay(t).Add(15*time.Minute).Format(time.RFC3339)+",1\n", 500)
	if status, got := r.deliver(issued.Token, "messages", "text/csv", many); status != http.StatusOK {
		t.Fatalf("the first message: %d %s", status, got)
	}
	for media, path := range map[string]string{"text/csv": "messages", "text/xml": "soap", "application/json": "readings"} {
		if status, got := r.deliver(issued.Token, path, media, "x"); status != http.StatusTooManyRequests || !strings.Contains(got, "wait as Retry-After says") {
			t.Errorf("%s after 500 readings of 1 a second: %d %s", path, status, got)
		}
	}
	if status, got := r.deliver(issued.Token, "readings", "application/json", `{"readings":[{"meter":"m1","channel":1,"end":"2026-03-03T00:15:00Z","value":1}]}`); status != http.StatusTooManyRequests {
		t.Errorf("a reading in JSON: %d %s", status, got)
	}
}
