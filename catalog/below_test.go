package catalog_test

import (
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
	if err := c.Below(t.Context(), "plant", theirs, nil); err != nil {
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
	if err := c.Below(t.Context(), "plant", nil, []point.Path{"plant/m/energy", "b/ahu/temp"}); err != nil {
		t.Fatal(err)
	}
	if page, err = c.Search(t.Context(), catalog.Filter{}); err != nil || len(page.Entries) != 2 {
		t.Errorf("after one was removed there are %+v, %v", page.Entries, err)
	}
	if err := c.Below(t.Context(), "plant", []point.Info{{Path: "x\x00"}}, nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("a path that is none gives %v", err)
	}
}
