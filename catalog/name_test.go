package catalog_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/point"
)

func TestAttackAChildSendsReadingsOfEverNewPoints(t *testing.T) {
	const most = 20
	dir := t.TempDir()
	c := open(t, dir)
	name := func(want int, paths ...point.Path) {
		t.Helper()
		if refused, err := c.Name(t.Context(), "plant", paths, catalog.BoundOf(most)); err != nil || refused != want {
			t.Fatalf("%d are refused, %v, want %d", refused, err, want)
		}
	}
	numbered := func(from, to int) (paths []point.Path) {
		for i := from; i < to; i++ {
			paths = append(paths, point.Path(fmt.Sprintf("plant/%04d", i)))
		}
		return paths
	}
	if _, err := c.Below(t.Context(), "plant", []point.Info{{Path: "plant/0000"}}, nil, catalog.BoundOf(most)); err != nil {
		t.Fatal(err)
	}
	name(0, numbered(0, most)...) // one of them is described
	name(0, numbered(0, most)...)
	name(3, numbered(most-1, most+3)...)
	if refused, err := c.Below(t.Context(), "plant", []point.Info{{Path: "plant/other"}}, nil, catalog.BoundOf(most)); err != nil || refused != 1 {
		t.Errorf("of a description %d are refused, %v, want 1: names take the room", refused, err)
	}
	if refused, err := c.Name(t.Context(), "other", numbered(most, most+1), catalog.BoundOf(most)); err != nil || refused != 0 {
		t.Errorf("of another child %d are refused, %v", refused, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open(t, dir)
	name(0, numbered(0, most+1)...)
	name(1, "plant/new")
}

func TestANameIsListedAndThenDescribed(t *testing.T) {
	c := open(t, t.TempDir())
	if _, err := c.Name(t.Context(), "plant", []point.Path{"plant/temp"}, catalog.Bound{}); err != nil {
		t.Fatal(err)
	}
	if all, free := c.Count(), c.Free(); all != 1 || free != 0 {
		t.Errorf("%d points are listed, of them %d as those that programs sent here", all, free)
	}
	info := point.Info{Path: "plant/temp", Unit: "degC", Interval: time.Minute}
	if _, err := c.Below(t.Context(), "plant", []point.Info{info}, nil, catalog.Bound{}); err != nil {
		t.Fatal(err)
	}
	found, err := c.Entries(t.Context(), []point.Path{"plant/temp"})
	if err != nil || found[0].Unit != "degC" || !found[0].Removed.IsZero() || !found[0].Since.IsZero() || c.Count() != 1 {
		t.Errorf("described, it is %+v, %v", found, err)
	}
	if err := c.Remove(t.Context(), []point.Path{"plant/temp"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Name(t.Context(), "plant", []point.Path{"plant/temp"}, catalog.Bound{}); err != nil || c.Count() != 0 {
		t.Errorf("late readings bring a point back that was removed, %v", err)
	}
}
