package query_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

// site is a plant with devices that report each minute: one is complete, one has lost the second
// half hour, one has never answered, and one has no interval.
func site(t *testing.T) *plant {
	p := newPlant(t, query.DefaultLimits())
	for _, device := range []point.Path{"a/full", "a/half", "b/dead"} {
		p.know(point.Info{Path: device.Join("x"), Device: device, Interval: time.Minute},
			point.Info{Path: device.Join("y"), Device: device, Interval: time.Minute})
	}
	p.know(point.Info{Path: "b/loose"})
	for _, name := range []point.Path{"x", "y"} {
		p.record(every(point.Path("a/full").Join(string(name)), time.Minute, ramp(60)...)...)
		p.record(every(point.Path("a/half").Join(string(name)), time.Minute, ramp(30)...)...)
	}
	p.record(every("b/loose", time.Minute, ramp(60)...)...)
	return p
}

func TestCompletenessIsAHeatMap(t *testing.T) {
	none := math.NaN()
	tests := []struct {
		name string
		ask  query.HeatMap
		want []query.Branch
		next point.Path
	}{
		{
			"a row for each device, in path order, and for the folder of points without one",
			query.HeatMap{From: noon(), To: at(time.Hour), Steps: 4, Rows: 9},
			[]query.Branch{
				{Path: "a/full", Points: 2, Expected: 120, Present: 120, Cells: []float64{1, 1, 1, 1}},
				{Path: "a/half", Points: 2, Expected: 120, Present: 60, Cells: []float64{1, 1, 0, 0}},
				{Path: "b", Points: 1, Cells: []float64{none, none, none, none}},
				{Path: "b/dead", Points: 2, Expected: 120, Cells: []float64{0, 0, 0, 0}},
			},
			"",
		},
		{
			"a row for each branch of a depth",
			query.HeatMap{From: noon(), To: at(time.Hour), Steps: 2, Depth: 1, Rows: 9},
			[]query.Branch{
				{Path: "a", Points: 4, Expected: 240, Present: 180, Cells: []float64{1, 0.5}},
				{Path: "b", Points: 3, Expected: 120, Cells: []float64{0, 0}},
			},
			"",
		},
		{
			"the first page of rows",
			query.HeatMap{From: noon(), To: at(time.Hour), Steps: 1, Depth: 1, Rows: 1},
			[]query.Branch{{Path: "a", Points: 4, Expected: 240, Present: 180, Cells: []float64{0.75}}},
			"a",
		},
		{
			"the page behind it",
			query.HeatMap{From: noon(), To: at(time.Hour), Steps: 1, Depth: 1, Rows: 1, After: "a"},
			[]query.Branch{{Path: "b", Points: 3, Expected: 120, Cells: []float64{0}}},
			"",
		},
		{
			"nothing is expected before a point was known, nor of the future",
			query.HeatMap{Pattern: "a/full", From: at(-2 * time.Hour), To: at(26 * time.Hour), Steps: 14, Rows: 1},
			[]query.Branch{{
				Path: "a/full", Points: 2, Expected: 2880, Present: 120,
				Cells: []float64{none, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, none},
			}},
			"",
		},
		{
			"a step shorter than the interval expects nothing",
			query.HeatMap{Pattern: "a/full", From: noon(), To: at(time.Minute), Steps: 2, Rows: 1},
			[]query.Branch{{Path: "a/full", Points: 2, Cells: []float64{none, none}}},
			"",
		},
	}
	p := site(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := p.Completeness(t.Context(), tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, h.Rows, cmpopts.EquateNaNs()); d != "" || h.Next != tt.next {
				t.Errorf("next %q, rows (-want +got):\n%s", h.Next, d)
			}
		})
	}
}

func TestHeatMapsOfLongTimesHaveRoundHours(t *testing.T) {
	p := site(t)
	h, err := p.Completeness(t.Context(), query.HeatMap{From: at(10 * time.Minute), To: at(10*time.Minute + 7*24*time.Hour), Steps: 100, Rows: 1})
	if err != nil {
		t.Fatal(err)
	}
	cells := len(h.Rows[0].Cells)
	if h.Step != 2*time.Hour || h.From != noon() || h.To != h.From.Add(time.Duration(cells)*h.Step) || h.To.Before(at(7*24*time.Hour)) || cells > 100 {
		t.Errorf("%d steps of %v from %v to %v", cells, h.Step, h.From, h.To)
	}
}

func TestHeatMapsThatCannotBeGivenSayWhy(t *testing.T) {
	p := site(t)
	good := query.HeatMap{From: noon(), To: now(), Steps: 1, Rows: 1}
	tests := []struct {
		name   string
		change func(*query.HeatMap)
		kind   fault.Kind
		want   string
	}{
		{"a time that ends before it begins", func(m *query.HeatMap) { m.To = m.From }, fault.Invalid, "before to"},
		{"no step", func(m *query.HeatMap) { m.Steps = 0 }, fault.Invalid, "from 1 to"},
		{"too many steps", func(m *query.HeatMap) { m.Steps = 1 << 40 }, fault.Invalid, "from 1 to"},
		{"too many rows", func(m *query.HeatMap) { m.Rows = query.MaxRows + 1 }, fault.Invalid, "from 1 to"},
		{"a negative depth", func(m *query.HeatMap) { m.Depth = -1 }, fault.Invalid, "not be negative"},
		{"a pattern without points", func(m *query.HeatMap) { m.Pattern = "no" }, fault.NotFound, "no"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := good
			tt.change(&m)
			if _, err := p.Completeness(t.Context(), m); !fault.Is(err, tt.kind) || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("got %v, want %v: …%s…", err, tt.kind, tt.want)
			}
		})
	}
}
