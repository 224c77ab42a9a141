package admission_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/ingest/admission"
	"voltbus/point"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// tape keeps what is recorded.
type tape struct {
	points []point.Path
	err    error
}

func (t *tape) Record(_ context.Context, samples []point.Sample) error {
	for i := range samples {
		t.points = append(t.points, samples[i].Point)
	}
	return t.err
}

func open(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), t.TempDir(), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	device := []point.Info{{Path: "site/ahu/temp", Device: "site/ahu"}, {Path: "site/ahu/fan", Device: "site/ahu"}}
	if err := c.Upsert(t.Context(), append(device, point.Info{Path: "site/calc"})); err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, g *admission.Admission, under point.Path, body string) (*ingest.Report, error) {
	t.Helper()
	return ingest.NewParser().Parse(ingest.SenML, []byte(body), ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
		return g.Record(t.Context(), b, under)
	})
}

func kinds(r *ingest.Report) []string {
	var list []string
	for _, e := range r.Errors {
		list = append(list, fmt.Sprint(e.Line, " ", e.Point, " ", e.Kind))
	}
	return list
}

func TestWhatMayBeRecordedIs(t *testing.T) {
	tests := []struct {
		name, body string
		under      point.Path
		points     int
		recorded   []point.Path
		refused    []string
	}{
		{"a new point", `[{"n":"a","v":1},{"n":"a","v":2}]`, "", 0, []point.Path{"a", "a"}, nil},
		{"a point without a device that is listed", `[{"n":"site/calc","v":1}]`, "", 0, []point.Path{"site/calc"}, nil},
		{"not a device's point, but what stands beside it", `[{"n":"site/ahu/temp","v":1},{"n":"a","v":1},{"n":"site/ahu/fan","v":1},{"n":"site/ahu/calc","v":1}]`, "", 0, []point.Path{"a", "site/ahu/calc"}, []string{"1 site/ahu/temp refused", "3 site/ahu/fan refused"}},
		{"only a device's points", `[{"n":"site/ahu/temp","v":1}]`, "", 0, nil, []string{"1 site/ahu/temp refused"}},
		{"only what a token may", `[{"n":"b/x","v":1},{"n":"b","v":1},{"n":"bc","v":1},{"n":"a","v":1}]`, "b", 0, []point.Path{"b/x", "b"}, []string{"3 bc refused", "4 a refused"}},
		{"only as many new points as there is room for", `[{"n":"a","v":1},{"n":"b","v":1},{"n":"a","v":2},{"n":"c","v":1},{"n":"site/calc","v":1}]`, "", 3, []point.Path{"a", "b", "a", "site/calc"}, []string{"4 c unavailable"}},
		{"no new point if there is no room", `[{"n":"a","v":1},{"n":"site/calc","v":1}]`, "", 1, []point.Path{"site/calc"}, []string{"1 a unavailable"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, rec := open(t), &tape{}
			g := admission.New(c, rec, tt.points)
			for range 2 { // also with what it remembers
				rec.points = nil
				report, err := send(t, g, tt.under, tt.body)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tt.recorded, rec.points); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(tt.refused, kinds(report)); d != "" {
					t.Error(d)
				}
			}
			for _, p := range tt.recorded {
				page, err := c.Search(t.Context(), catalog.Filter{Pattern: point.Pattern(p)})
				if err != nil || len(page.Entries) == 0 {
					t.Errorf("%s is not listed: %v", p, err)
				}
			}
		})
	}
}

func TestANewPointIsDescribed(t *testing.T) {
	c := open(t)
	if _, err := send(t, admission.New(c, &tape{}, 0), "", `[{"n":"a","u":"Cel","v":1}]`); err != nil {
		t.Fatal(err)
	}
	entries, err := c.Entries(t.Context(), []point.Path{"a"})
	if err != nil {
		t.Fatal(err)
	}
	want := point.Info{Path: "a", Kind: point.Float, Unit: "Cel", Tags: map[string]string{admission.SourceTag: admission.Source}}
	if d := cmp.Diff(want, entries[0].Info, cmpopts.EquateComparable(point.Value{})); d != "" {
		t.Error(d)
	}
}

func TestAPointThatADeviceTakesIsRefusedFromThenOn(t *testing.T) {
	c, rec := open(t), &tape{}
	g := admission.New(c, rec, 0)
	if _, err := send(t, g, "", `[{"n":"a","v":1}]`); err != nil {
		t.Fatal(err)
	}
	if err := c.Keep(t.Context(), []point.Info{{Path: "a", Device: "d"}}); err != nil {
		t.Fatal(err)
	}
	report, err := send(t, g, "", `[{"n":"a","v":1},{"n":"site/ahu/temp","v":1}]`)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1 a refused"}, kinds(report)); d != "" {
		t.Error("the point of a device that left is free, and a device's is not:", d)
	}
	if d := cmp.Diff([]point.Path{"a", "site/ahu/temp"}, rec.points); d != "" {
		t.Error(d)
	}
}

func TestErrorsOfRecorderAndCatalogueComeBack(t *testing.T) {
	c := open(t)
	full := fault.E("test", fault.Unavailable, "", errors.New("the disk is full"))
	if _, err := send(t, admission.New(c, &tape{err: full}, 0), "", `[{"n":"a","v":1}]`); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	rec := &tape{}
	g := admission.New(c, rec, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ingest.NewParser().Parse(ingest.SenML, []byte(`[{"n":"new","v":1}]`), ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
		return g.Record(ctx, b, "")
	})
	if err == nil || len(rec.points) > 0 {
		t.Errorf("without the catalogue it records %v, %v", rec.points, err)
	}
}
