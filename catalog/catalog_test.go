package catalog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func open(t testing.TB, dir string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), dir, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func upsert(t testing.TB, c *catalog.Catalog, infos ...point.Info) {
	t.Helper()
	if err := c.Upsert(t.Context(), infos); err != nil {
		t.Fatal(err)
	}
}

func search(t testing.TB, c *catalog.Catalog, f catalog.Filter) []point.Path {
	t.Helper()
	page, err := c.Search(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return paths(page)
}

func paths(p catalog.Page) []point.Path {
	var list []point.Path
	for _, e := range p.Entries {
		list = append(list, e.Path)
	}
	return list
}

func site() []point.Info {
	return []point.Info{
		{Path: "campus/b1/ahu1/temp", Kind: point.Float, Unit: "degC", Description: "Zuluft ÄUSSEN", Device: "campus/b1/ahu1", Interval: time.Minute, Tags: map[string]string{"equip": "ahu", "floor": "1"}},
		{Path: "campus/b1/ahu1/fan", Kind: point.Bool, Writable: true, Device: "campus/b1/ahu1", Interval: time.Minute, Tags: map[string]string{"equip": "ahu"}},
		{Path: "campus/b2/meter/power", Kind: point.Float, Unit: "kW", Device: "campus/b2/meter", Tags: map[string]string{"equip": "meter"}},
		{Path: `campus/b2/<img src=x onerror=alert(1)>/50% * "x"`, Kind: point.Text, Device: "campus/b2/<img src=x onerror=alert(1)>"},
		{Path: "campus-annex/temp", Kind: point.Float, Unit: "degC"},
	}
}

func TestSearchSelects(t *testing.T) {
	c := open(t, t.TempDir())
	upsert(t, c, site()...)
	all := []point.Path{"campus-annex/temp", "campus/b1/ahu1/fan", "campus/b1/ahu1/temp", site()[3].Path, "campus/b2/meter/power"}
	tests := []struct {
		name   string
		filter catalog.Filter
		want   []point.Path
	}{
		{"everything, in path order, if the filter is empty", catalog.Filter{}, all},
		{"what lies below a prefix, but not its neighbours", catalog.Filter{Pattern: "campus"}, all[1:]},
		{"one point by its path", catalog.Filter{Pattern: "campus/b1/ahu1/fan"}, all[1:2]},
		{"by wildcards in segments", catalog.Filter{Pattern: "campus/*/ahu*/temp"}, all[2:3]},
		{"by wildcards over segments", catalog.Filter{Pattern: "**/temp"}, []point.Path{all[0], all[2]}},
		{"by text whatever its case, in any script", catalog.Filter{Text: "äussen"}, all[2:3]},
		{"by words that stand in several places", catalog.Filter{Text: "AHU1  äussen degc"}, all[2:3]},
		{"by text in the path", catalog.Filter{Text: "ONERROR"}, all[3:4]},
		{"by unit", catalog.Filter{Unit: "degC"}, []point.Path{all[0], all[2]}},
		{"by a tag's value", catalog.Filter{Tags: map[string]string{"equip": "ahu"}}, all[1:3]},
		{"by the presence of a tag", catalog.Filter{Tags: map[string]string{"floor": ""}}, all[2:3]},
		{"by all tags at once", catalog.Filter{Tags: map[string]string{"equip": "meter", "floor": ""}}, nil},
		{"by device", catalog.Filter{Device: "campus/b2/meter"}, all[4:5]},
		{"by all conditions at once", catalog.Filter{Pattern: "campus", Unit: "degC", Text: "zuluft"}, all[2:3]},
		{"what comes after a path", catalog.Filter{After: all[2]}, all[3:]},
		{"a path with SQL in it without harm", catalog.Filter{Pattern: `x'; DROP TABLE point; --`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, search(t, c, tt.filter)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPagesGiveEveryPointOnce(t *testing.T) {
	c := open(t, t.TempDir())
	rapid.Check(t, func(r *rapid.T) {
		segment := rapid.StringMatching(`[a-c0 .*>%_é/<-]{1,3}`).Filter(func(s string) bool { return point.Path(s).Validate() == nil })
		var infos []point.Info
		want := map[point.Path]bool{}
		prefix := point.Path(rapid.StringMatching(`[a-z]{6}`).Draw(r, "prefix"))
		for _, s := range rapid.SliceOfN(segment, 1, 30).Draw(r, "names") {
			infos = append(infos, point.Info{Path: prefix.Join(s), Kind: point.Float})
			want[prefix.Join(s)] = true
		}
		if err := c.Upsert(context.Background(), infos); err != nil {
			r.Fatal(err)
		}
		f := catalog.Filter{Pattern: point.Pattern(prefix), Limit: rapid.IntRange(1, 7).Draw(r, "limit")}
		for last := point.Path(""); ; {
			page, err := c.Search(context.Background(), f)
			if err != nil {
				r.Fatal(err)
			}
			for _, p := range paths(page) {
				if p <= last {
					r.Fatalf("%q comes after %q", p, last)
				}
				last = p
				delete(want, p)
			}
			if f.After = page.Next; page.Next == "" {
				break
			}
		}
		if len(want) > 0 {
			r.Fatalf("never listed: %v", want)
		}
		if err := c.Remove(context.Background(), pathsOf(infos)); err != nil {
			r.Fatal(err)
		}
	})
}

func pathsOf(infos []point.Info) []point.Path {
	list := make([]point.Path, len(infos))
	for i := range infos {
		list[i] = infos[i].Path
	}
	return list
}

func TestEntriesComeBackAsPut(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	upsert(t, first, site()...)
	c := open(t, dir) // as after a restart
	got, err := c.Entries(t.Context(), []point.Path{"no/such", site()[0].Path, site()[3].Path})
	if err != nil {
		t.Fatal(err)
	}
	want := []catalog.Entry{
		{Info: point.Info{Path: "no/such"}},
		{Info: site()[0], FirstSeen: clock()},
		{Info: site()[3], FirstSeen: clock()},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b point.Value) bool { return a == b })); d != "" {
		t.Error(d)
	}
}

func TestAPointCanLeaveAndComeBack(t *testing.T) {
	c := open(t, t.TempDir())
	upsert(t, c, site()...)
	device := point.Path("campus/b1/ahu1")
	if err := c.Replace(t.Context(), device, site()[:1]); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]point.Path{"campus/b1/ahu1/temp"}, search(t, c, catalog.Filter{Device: device})); d != "" {
		t.Error("after the fan left:", d)
	}
	got, err := c.Entries(t.Context(), []point.Path{"campus/b1/ahu1/fan"})
	if err != nil || !got[0].Removed.Equal(clock()) {
		t.Errorf("the removed point is %+v, %v", got, err)
	}
	if n := len(search(t, c, catalog.Filter{Device: device, Removed: true})); n != 2 {
		t.Errorf("with removed points there are %d, want 2", n)
	}
	gone, err := c.Removed(t.Context(), "campus/**")
	if d := cmp.Diff([]point.Path{"campus/b1/ahu1/fan"}, gone); d != "" || err != nil {
		t.Error("removed:", d, err)
	}
	if err := c.Replace(t.Context(), device, site()[:2]); err != nil {
		t.Fatal(err)
	}
	if n := c.Count(); n != 5 {
		t.Errorf("after the fan came back there are %d points", n)
	}
}

func TestUpsertRefusesWhatIsWrongAsAWhole(t *testing.T) {
	long := strings.Repeat("x", 2000)
	tests := []struct {
		name string
		info point.Info
		want string
	}{
		{"an empty path", point.Info{}, "at least one character"},
		{"a path with control characters", point.Info{Path: "a\x00b"}, "control characters"},
		{"a path that is too long", point.Info{Path: point.Path(long)}, "at most 512"},
		{"a huge unit", point.Info{Path: "a", Unit: long}, "unit has more"},
		{"a huge description", point.Info{Path: "a", Description: long}, "description has more"},
		{"a huge tag", point.Info{Path: "a", Tags: map[string]string{"k": long}}, "needs a name"},
		{"a negative interval", point.Info{Path: "a", Interval: -1}, "negative"},
	}
	c := open(t, t.TempDir())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := c.Upsert(t.Context(), []point.Info{{Path: "fine"}, tt.info})
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want invalid: …%s…", err, tt.want)
			}
			if n := c.Count(); n != 0 {
				t.Errorf("%d points were put all the same", n)
			}
		})
	}
}

func TestReadersAndWritersMix(t *testing.T) {
	c := open(t, t.TempDir())
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 20 {
				upsert(t, c, point.Info{Path: point.Path(fmt.Sprintf("w%d/p%d", w, i))})
			}
		})
		all.Go(func() {
			for range 20 {
				search(t, c, catalog.Filter{Text: "p"})
			}
		})
	}
	all.Wait()
	if n := c.Count(); n != 80 {
		t.Errorf("there are %d points; want 80", n)
	}
}

func TestADamagedFileIsSetAside(t *testing.T) {
	tests := []struct {
		name   string
		damage func(b []byte) []byte
	}{
		{"no database at all", func([]byte) []byte { return []byte(strings.Repeat("garbage ", 999)) }},
		{"overwritten pages", func(b []byte) []byte {
			for i := 4096; i < len(b); i++ {
				b[i] = 0xa5
			}
			return b
		}},
		{"cut in half", func(b []byte) []byte { return b[:len(b)/2] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			before, err := catalog.Open(t.Context(), dir, clock)
			if err != nil {
				t.Fatal(err)
			}
			upsert(t, before, site()...)
			if err := before.Close(); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, catalog.File)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, tt.damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			c := open(t, dir)
			d := c.Damage()
			if d == nil || d.Reason == "" {
				t.Fatal("the damage was not reported")
			}
			if _, err := os.Stat(d.File); err != nil {
				t.Error("the damaged file is gone:", err)
			}
			upsert(t, c, site()...)
		})
	}
}

func TestOpenSaysWhatToDo(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(t *testing.T, dir string) string
		kind    fault.Kind
		want    string
	}{
		{"a folder that does not exist", func(_ *testing.T, dir string) string {
			return filepath.Join(dir, "none")
		}, fault.NotFound, "make the data directory"},
		{"a file of a newer program", func(t *testing.T, dir string) string {
			c, err := catalog.Open(t.Context(), dir, clock)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.SetVersion(t.Context(), 99); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		}, fault.Conflict, "newer program"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := catalog.Open(t.Context(), tt.prepare(t, t.TempDir()), clock)
			if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v (%v), want %v: …%s…", err, fault.KindOf(err), tt.kind, tt.want)
			}
		})
	}
}

func TestTheFileIsPrivateAndMayHaveAStrangeName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c%20d#é")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	upsert(t, open(t, dir), site()...)
	for _, name := range []string{catalog.File, catalog.File + "-wal"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}

func BenchmarkUpsert10000(b *testing.B) {
	c := open(b, b.TempDir())
	infos := make([]point.Info, 10_000)
	n := 0
	for b.Loop() {
		n++
		for i := range infos {
			infos[i] = point.Info{
				Path: point.Path(fmt.Sprintf("site/building%d/device%d/point%d", i%10, i%500, i)),
				Kind: point.Float, Unit: "degC", Description: fmt.Sprintf("run %d", n),
				Device: point.Path(fmt.Sprintf("site/building%d/device%d", i%10, i%500)), Interval: time.Minute,
				Tags: map[string]string{"equip": "ahu"},
			}
		}
		upsert(b, c, infos...)
	}
}

func BenchmarkEntries10000(b *testing.B) {
	c := open(b, b.TempDir())
	list := make([]point.Path, 10_000)
	infos := make([]point.Info, len(list))
	for i := range list {
		list[i] = point.Path(fmt.Sprintf("site/building%d/device%d/point%d", i%10, i%500, i))
		infos[i] = point.Info{Path: list[i], Tags: map[string]string{"equip": "ahu"}}
	}
	upsert(b, c, infos...)
	for b.Loop() {
		if _, err := c.Entries(b.Context(), list); err != nil {
			b.Fatal(err)
		}
	}
}
