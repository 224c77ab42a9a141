package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

func TestPointsOfAChildStandBesideThoseOfOwnDevices(t *testing.T) {
	c := open(t, t.TempDir())
	own := point.Info{Path: "b/ahu/temp", Device: "b/ahu", Unit: "degC"}
	if err := c.Keep(t.Context(), []point.Info{own}); err != nil {
		t.Fatal(err)
	}
	theirs := []point.Info{
		{Path: "b/ahu/temp", Device: "b/ahu", Unit: "degF"}, // what this node knows better
		{Path: "plant/m/power", Device: "plant/m", Unit: "kW"}, {Path: "plant/m/energy", Device: "plant/m", Unit: "kWh"},
	}
	if _, err := c.Below(t.Context(), "plant", theirs, nil, catalog.Bound{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Keep(t.Context(), []point.Info{own}); err != nil { // as at each start
		t.Fatal(err)
	}
	want := map[point.Path]string{"b/ahu/temp": "degC", "plant/m/power": "kW", "plant/m/energy": "kWh"}
	page, err := c.Search(t.Context(), catalog.Filter{})
	if err != nil || len(page.Entries) != len(want) {
		t.Fatalf("there are %+v, %v", page.Entries, err)
	}
	for _, e := range page.Entries {
		if e.Unit != want[e.Path] {
			t.Errorf("%s has the unit %q", e.Path, e.Unit)
		}
	}
	if _, err := c.Below(t.Context(), "plant", nil, []point.Path{"plant/m/energy", "b/ahu/temp"}, catalog.Bound{}); err != nil {
		t.Fatal(err)
	}
	if page, err = c.Search(t.Context(), catalog.Filter{}); err != nil || len(page.Entries) != 2 {
		t.Errorf("after one was removed there are %+v, %v", page.Entries, err)
	}
	if _, err := c.Below(t.Context(), "plant", []point.Info{{Path: "x\x00"}}, nil, catalog.Bound{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path that is none gives %v", err)
	}
}

func TestAttackAChildDescribesPointsWithoutEnd(t *testing.T) {
	const most = 20
	dir := t.TempDir()
	c := open(t, dir)
	refused := 0
	describe := func(from, to int, text string) {
		t.Helper()
		for i := from; i < to; i++ {
			n, err := c.Below(t.Context(), "plant", []point.Info{{Path: point.Path(fmt.Sprintf("plant/%04d", i)), Description: text}}, nil, catalog.BoundOf(most))
			if err != nil {
				t.Fatal(err)
			}
			refused += n
		}
	}
	count := func(want int) {
		t.Helper()
		if page, err := c.Search(t.Context(), catalog.Filter{}); err != nil || len(page.Entries) != want {
			t.Fatalf("%d points are listed, %v, want %d", len(page.Entries), err, want)
		}
	}
	describe(0, 100, "")
	count(most)
	if refused != 80 {
		t.Errorf("%d were refused, want 80", refused)
	}
	refused = 0
	describe(0, most, strings.Repeat("x", 1024))
	if want := most - most*catalog.PointBytes/1024; refused < want {
		t.Errorf("%d long texts were refused, want %d at least", refused, want)
	}
	var paths []point.Path
	for i := range most {
		paths = append(paths, point.Path(fmt.Sprintf("plant/%04d", i)))
	}
	if _, err := c.Below(t.Context(), "plant", nil, paths, catalog.BoundOf(most)); err != nil {
		t.Fatal(err)
	}
	describe(100, 200, "")
	count(0) // points that were removed are known, and take room
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open(t, dir)
	describe(100, 200, "")
	count(0)
	describe(0, 1, "")
	count(1) // what is known comes back
	if n, err := c.Below(t.Context(), "other", []point.Info{{Path: "other/p"}}, nil, catalog.BoundOf(most)); err != nil || n != 0 {
		t.Errorf("of another child %d are refused, %v", n, err)
	}
	if _, err := c.Below(t.Context(), "plant", []point.Info{{Path: "plant/0000", Device: point.Path(strings.Repeat("d", 1<<20))}}, nil, catalog.Bound{}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a device with a name of 1 MiB gives %v", err)
	}
}
