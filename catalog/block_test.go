package catalog_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/catalog"
	"voltbus/point"
)

var allPoints = catalog.Filter{Removed: true, Limit: 100_000}

// listed returns all points with all that is kept of them.
func listed(t rapid.TB, c *catalog.Catalog) []catalog.Entry {
	t.Helper()
	page, err := c.Search(context.Background(), allPoints)
	if err != nil {
		t.Fatal(err)
	}
	return page.Entries
}

// drawInfo draws a point of few, so that points meet.
func drawInfo(t *rapid.T) point.Info {
	path := fmt.Sprintf("d%d/p%d", rapid.IntRange(0, 2).Draw(t, "device"), rapid.IntRange(0, 9).Draw(t, "point"))
	return point.Info{
		Path: point.Path(path), Device: point.Path(path).Parent(), Unit: rapid.SampledFrom([]string{"", "kW", `"`}).Draw(t, "unit"),
		Interval: time.Duration(rapid.IntRange(0, 2).Draw(t, "interval")) * time.Second,
		Tags:     rapid.SampledFrom([]map[string]string{nil, {"a": "<b>"}}).Draw(t, "tags"),
	}
}

// change makes one change of any kind.
func change(t *rapid.T, c *catalog.Catalog) {
	ctx := context.Background()
	infos := rapid.SliceOfN(rapid.Custom(drawInfo), 1, 8).Draw(t, "points")
	var err error
	switch rapid.SampledFrom([]string{"upsert", "free", "keep", "replace", "below", "adopt", "remove"}).Draw(t, "what") {
	case "upsert":
		err = c.Upsert(ctx, infos)
	case "free":
		for i := range infos {
			infos[i].Device = ""
		}
		err = c.Upsert(ctx, infos)
	case "keep":
		err = c.Keep(ctx, infos)
	case "replace":
		for i := range infos {
			infos[i].Device = "d1"
		}
		err = c.Replace(ctx, "d1", infos)
	case "below":
		_, err = c.Below(ctx, "child", infos, pathsOf(infos[:1]), catalog.Bound{})
	case "adopt":
		err = c.Adopt(ctx, infos)
	case "remove":
		err = c.Remove(ctx, pathsOf(infos))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPointsAreTheSameAfterAStartWhateverChanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, at := t.TempDir(), clock()
		tick := func() time.Time { at = at.Add(time.Second); return at }
		c, err := catalog.Open(t.Context(), dir, tick)
		if err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 12).Draw(rt, "changes") {
			change(rt, c)
		}
		before := listed(rt, c)
		blocks, points, err := c.Blocks(t.Context())
		if err != nil || points > 2*len(before) || blocks > 5 {
			rt.Fatalf("%d points stand in %d blocks as %d, %v", len(before), blocks, points, err)
		}
		if err := c.Close(); err != nil {
			rt.Fatal(err)
		}
		again, err := catalog.Open(t.Context(), dir, tick)
		if err != nil || again.Damage() != nil {
			rt.Fatal(err, again.Damage())
		}
		defer again.Close()
		if d := cmp.Diff(before, listed(rt, again), cmp.Comparer(func(a, b point.Value) bool { return a == b })); d != "" || again.Count() != c.Count() {
			rt.Fatal(d)
		}
	})
}

func TestPointsThatComeOneByOneStandInFewBlocks(t *testing.T) {
	c := open(t, t.TempDir())
	const points = 500
	for i := range points {
		upsert(t, c, point.Info{Path: point.Path(fmt.Sprintf("mqtt/device%03d/power", i*7%points))})
	}
	blocks, written, err := c.Blocks(t.Context())
	if err != nil || blocks > 10 || written != points || c.Count() != points {
		t.Errorf("%d points of %d stand in %d blocks as %d, %v", c.Count(), points, blocks, written, err)
	}
}

func TestNewPointsInNoOrderWriteLittle(t *testing.T) {
	const points, batch, most = 40_000, 4000, 400 // most bytes a point, of the log of SQLite and the file
	dir := t.TempDir()
	c := open(t, dir)
	order := rand.New(rand.NewPCG(1, 1)).Perm(points)
	for i := 0; i < points; i += batch {
		infos := make([]point.Info, batch)
		for j, n := range order[i : i+batch] {
			infos[j].Path = point.Path(fmt.Sprintf("city/district%d/meter%06d/energy", n/1000, n))
		}
		upsert(t, c, infos...)
	}
	written := size(t, dir, catalog.File) + size(t, dir, catalog.File+"-wal")
	if written > points*most {
		t.Errorf("%d bytes a point were written, want at most %d", written/points, most)
	}
}

func size(t *testing.T, dir, name string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestThePointsCanBeLookedAtInTheFile(t *testing.T) {
	c := open(t, t.TempDir())
	upsert(t, c, point.Info{Path: "a/<b>", Unit: "kW", Tags: map[string]string{"equip": "ahu"}}, point.Info{Path: "a/c", Device: "a"})
	upsert(t, c, point.Info{Path: "a/<b>", Unit: "W"})
	if err := c.Remove(t.Context(), []point.Path{"a/c"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Looked(t.Context())
	us := clock().UnixMicro()
	want := []string{fmt.Sprintf("a/<b> W  {} %d there", us), fmt.Sprintf("a/c  a {} %d %d", us, us)}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Error(d, err)
	}
}

func TestADamagedBlockOfPointsSetsTheFileAside(t *testing.T) {
	dir := t.TempDir()
	before, err := catalog.Open(t.Context(), dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	upsert(t, before, site()...)
	if err := before.SpoilBlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir)
	if c.Damage() == nil || c.Count() != 0 {
		t.Errorf("the damage is %+v, and there are %d points", c.Damage(), c.Count())
	}
}

func TestAProgramThatKnowsRowsOnlyIsTakenOverFrom(t *testing.T) {
	dir := t.TempDir()
	first, err := catalog.Open(t.Context(), dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	upsert(t, first, site()...)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := catalog.Open(t.Context(), dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.ChangeRow(t.Context()); err != nil { // nothing changes blocks meanwhile
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	third := open(t, dir)
	if e := entry(t, third, "campus/b2/meter/power"); e.Unit != "MW" || e.Device != "campus/b2/meter" || third.Count() != len(site())+1 {
		t.Errorf("there are %d points, and the changed one is %+v", third.Count(), e)
	}
	upsert(t, third, point.Info{Path: "new", Unit: "V"})
	killed := open(t, dir) // the third is not closed: its rows are outdated
	if e := entry(t, killed, "new"); e.Unit != "V" {
		t.Errorf("outdated rows made it %+v", e)
	}
}
