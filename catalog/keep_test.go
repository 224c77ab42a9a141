package catalog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

func keep(t testing.TB, c *catalog.Catalog, infos ...point.Info) {
	t.Helper()
	if err := c.Keep(t.Context(), infos); err != nil {
		t.Fatal(err)
	}
}

func entry(t *testing.T, c *catalog.Catalog, p point.Path) catalog.Entry {
	t.Helper()
	list, err := c.Entries(t.Context(), []point.Path{p})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestKeepMakesThePointsExactlyThoseOfDevices(t *testing.T) {
	of := func(path, device point.Path, unit string) point.Info {
		return point.Info{Path: path, Device: device, Unit: unit, Tags: map[string]string{"a": "b"}, Interval: time.Second}
	}
	tests := []struct {
		name  string
		infos []point.Info
		want  []string // path, device and unit of the points that are there
	}{
		{"the same points stay", []point.Info{of("d1/a", "d1", "V"), of("d2/a", "d2", "A")}, []string{"d1/a d1 V", "d2/a d2 A", "program/x  W"}},
		{"a point of a device that stays is removed", []point.Info{of("d2/a", "d2", "A")}, []string{"d2/a d2 A", "program/x  W"}},
		{"a point that changes is changed", []point.Info{of("d1/a", "d1", "kV"), of("d2/a", "d2", "A")}, []string{"d1/a d1 kV", "d2/a d2 A", "program/x  W"}},
		{"a new device is added", []point.Info{of("d1/a", "d1", "V"), of("d2/a", "d2", "A"), of("d3/a", "d3", "")}, []string{"d1/a d1 V", "d2/a d2 A", "d3/a d3 ", "program/x  W"}},
		{"a device takes a program's point", []point.Info{of("program/x", "program", "W")}, []string{"program/x program W"}},
		{"a point that was removed comes back", []point.Info{of("gone", "d0", "V")}, []string{"gone d0 V", "program/x  W"}},
		{"without points all devices leave", nil, []string{"program/x  W"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, t.TempDir())
			keep(t, c, of("gone", "d0", "V"))
			keep(t, c, of("d1/a", "d1", "V"), of("d2/a", "d2", "A"))
			upsert(t, c, of("program/x", "", "W"))
			keep(t, c, tt.infos...)
			page, err := c.Search(t.Context(), catalog.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range page.Entries {
				got = append(got, fmt.Sprintf("%s %s %s", e.Path, e.Device, e.Unit))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestKeepRefusesWhatIsWrongAsAWhole(t *testing.T) {
	c := open(t, t.TempDir())
	keep(t, c, point.Info{Path: "d/a", Device: "d"})
	for want, info := range map[string]point.Info{
		"belongs to no device":   {Path: "x"},
		"at least one character": {Device: "d"},
	} {
		err := c.Keep(t.Context(), []point.Info{{Path: "fine", Device: "d"}, info})
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want invalid: …%s…", err, want)
		}
	}
	if d := cmp.Diff([]point.Path{"d/a"}, search(t, c, catalog.Filter{})); d != "" {
		t.Error(d)
	}
}

func TestKeepWritesOnlyWhatDiffers(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	infos := many(1000)
	keep(t, c, infos...)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, catalog.File+"-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	keep(t, c, infos...)
	if grown := size() - before; grown != 0 {
		t.Errorf("the same points wrote %d bytes", grown)
	}
	infos[500].Unit = "K"
	keep(t, c, infos...)
	if size() == before {
		t.Error("a change wrote nothing")
	}
}

// many makes points of 500 devices.
func many(n int) []point.Info {
	infos := make([]point.Info, n)
	for i := range infos {
		device := point.Path(fmt.Sprintf("site/building%d/device%d", i%10, i%500))
		infos[i] = point.Info{
			Path: device.Join(fmt.Sprintf("point%d", i)), Kind: point.Float, Unit: "degC",
			Device: device, Interval: time.Minute, Tags: map[string]string{"equip": "ahu"},
		}
	}
	return infos
}

func TestSinceIsWhenTheIntervalChangedOrThePointCameBack(t *testing.T) {
	info := func(interval time.Duration, unit string) point.Info {
		return point.Info{Path: "d/a", Device: "d", Interval: interval, Unit: unit}
	}
	tests := []struct {
		name  string
		steps []func(*testing.T, *catalog.Catalog)
		want  time.Time
	}{
		{"never for a new point", nil, time.Time{}},
		{"not when something else changes", []func(*testing.T, *catalog.Catalog){
			func(t *testing.T, c *catalog.Catalog) { keep(t, c, info(time.Minute, "K")) },
			func(t *testing.T, c *catalog.Catalog) { upsert(t, c, info(time.Minute, "V")) },
		}, time.Time{}},
		{"not when the device is replaced by the same", []func(*testing.T, *catalog.Catalog){
			func(t *testing.T, c *catalog.Catalog) {
				if err := c.Replace(t.Context(), "d", []point.Info{info(time.Minute, "")}); err != nil {
					t.Fatal(err)
				}
			},
		}, time.Time{}},
		{"when the interval changed", []func(*testing.T, *catalog.Catalog){
			func(t *testing.T, c *catalog.Catalog) { keep(t, c, info(time.Second, "")) },
			func(t *testing.T, c *catalog.Catalog) { keep(t, c, info(time.Second, "K")) },
		}, clock().Add(time.Hour)},
		{"when it came back", []func(*testing.T, *catalog.Catalog){
			func(t *testing.T, c *catalog.Catalog) { keep(t, c) },
			func(t *testing.T, c *catalog.Catalog) { keep(t, c, info(time.Minute, "")) },
		}, clock().Add(2 * time.Hour)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := clock()
			c, err := catalog.Open(t.Context(), t.TempDir(), func() time.Time { return at })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			keep(t, c, info(time.Minute, ""))
			for _, step := range tt.steps {
				at = at.Add(time.Hour)
				step(t, c)
			}
			if got := entry(t, c, "d/a"); !got.Since.Equal(tt.want) || !got.FirstSeen.Equal(clock()) {
				t.Errorf("first seen %v, since %v; want since %v", got.FirstSeen, got.Since, tt.want)
			}
		})
	}
}

func BenchmarkKeep10000(b *testing.B) {
	infos := many(10_000)
	b.Run("new", func(b *testing.B) {
		c := open(b, b.TempDir())
		for b.Loop() {
			keep(b, c)
			keep(b, c, infos...)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		c := open(b, b.TempDir())
		keep(b, c, infos...)
		for b.Loop() {
			keep(b, c, infos...)
		}
	})
}

func TestAFileOfTheFirstVersionIsBroughtUpToDate(t *testing.T) {
	dir := t.TempDir()
	old, err := catalog.Open(t.Context(), dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, old, many(2)...)
	if err := old.MakeVersion1(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	c := open(t, dir)
	if got := entry(t, c, many(2)[0].Path); c.Damage() != nil || !got.FirstSeen.Equal(clock()) || !got.Since.IsZero() {
		t.Errorf("damage %+v, entry %+v", c.Damage(), got)
	}
}

func TestPathsGivesThoseBelowAPrefix(t *testing.T) {
	c := open(t, t.TempDir())
	upsert(t, c, site()...)
	if err := c.Remove(t.Context(), []point.Path{"campus/b1/ahu1/fan"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		prefix point.Path
		limit  int
		want   []point.Path
	}{
		{"also removed ones, but no neighbours", "campus/b1", 10, []point.Path{"campus/b1/ahu1/fan", "campus/b1/ahu1/temp"}},
		{"all without a prefix, up to the limit", "", 2, []point.Path{"campus-annex/temp", "campus/b1/ahu1/fan"}},
		{"a star in the prefix is a star", "campus/*", 10, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.Paths(t.Context(), tt.prefix, tt.limit)
			if d := cmp.Diff(tt.want, got); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}
