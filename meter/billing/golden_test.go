package billing_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/meter"
	"voltbus/meter/billing"
	"voltbus/meter/interval"
)

type golden struct {
	From, To time.Time
	Interval string
	Base     float64
	At       map[time.Time]float64
	Use      map[string][2]float64
	Block    map[string][2]any
	Rolling  map[string][2]any
	Tariff   billing.Tariff
}

func load(t *testing.T, name string) golden {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func TestBillsAcrossClockChangesAreThoseComputedByHand(t *testing.T) {
	names, err := filepath.Glob("testdata/*.golden.json")
	if err != nil || len(names) != 4 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			g := load(t, name)
			cal, s := filled(t, g)
			scope, err := cal.Scope(s)
			if err != nil {
				t.Fatal(err)
			}
			uses, err := scope.Use(s)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][2]float64{}
			for _, u := range uses {
				got[u.Period] = [2]float64{u.Quantity, float64(u.Intervals)}
			}
			if diff := cmp.Diff(g.Use, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Error("use (-want +got):\n" + diff)
			}
			for rolling, want := range map[bool]map[string][2]any{false: g.Block, true: g.Rolling} {
				peaks, err := scope.Peaks(s, billing.Window{Length: time.Hour, Rolling: rolling})
				if err != nil {
					t.Fatal(err)
				}
				got := map[string][2]any{}
				for _, p := range peaks {
					got[p.Period] = [2]any{p.Demand, p.End.UTC().Format(time.RFC3339)}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("peaks, rolling %v (-want +got):\n%s", rolling, diff)
				}
			}
		})
	}
}

// filled returns the calendar and the series of a golden file, read from a history.
func filled(t *testing.T, g golden) (*billing.Calendar, *billing.Series) {
	t.Helper()
	cal, err := billing.Compile(g.Tariff)
	if err != nil {
		t.Fatal(err)
	}
	length, err := time.ParseDuration(g.Interval)
	if err != nil {
		t.Fatal(err)
	}
	s := series(t, length, cal.Zone(), g.From, g.To)
	var versions []meter.Version
	for _, end := range s.Ends {
		v, ok := g.At[end.UTC()]
		if !ok {
			v = g.Base
		}
		versions = append(versions, meter.Version{End: end, Recorded: g.To, Value: v})
	}
	var h meter.History
	if _, err := h.Add(versions); err != nil {
		t.Fatal(err)
	}
	if stray, err := s.Read(billing.Source{History: &h, Multiplier: 1}, g.To); err != nil || stray != 0 {
		t.Fatalf("%d stray readings: %v", stray, err)
	}
	return cal, s
}

func series(t testing.TB, length time.Duration, zone *time.Location, from, to time.Time) *billing.Series {
	t.Helper()
	grid, err := interval.New(length, zone)
	if err != nil {
		t.Fatal(err)
	}
	s, err := billing.NewSeries(grid, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
