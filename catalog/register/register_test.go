package register_test

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/catalog/register"
	"voltbus/point"
)

// drawRecord draws a record of few different texts, so that they meet.
func drawRecord(t *rapid.T) register.Record {
	path := rapid.StringMatching(`[aB/é-]{1,6}`)
	text := rapid.SampledFrom([]string{"", "Zuluft ÄUSSEN", "a", `"<\` + "\n", "B/é"})
	return register.Record{
		Path: path.Draw(t, "path"), Device: text.Draw(t, "device"), Description: text.Draw(t, "description"),
		FirstSeen: rapid.Int64Range(1, 3).Draw(t, "first"),
		Traits: register.Traits{
			Kind: rapid.SampledFrom([]point.Kind{point.Float, point.Bool}).Draw(t, "kind"), Writable: rapid.Bool().Draw(t, "writable"),
			Unit: text.Draw(t, "unit"), Interval: rapid.Int64Range(0, 2).Draw(t, "interval"),
			Tags:    rapid.SampledFrom([]string{"", `{"equip":"ahu"}`, `{"equip":"\"","floor":"1"}`}).Draw(t, "tags"),
			Removed: rapid.Int64Range(0, 1).Draw(t, "removed"), Since: rapid.Int64Range(0, 1).Draw(t, "since"),
			Child: text.Draw(t, "child"),
		},
	}
}

func TestWhatIsPutIsFoundAsAListWouldFindIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, model := register.New(), map[string]register.Record{}
		for range rapid.IntRange(0, 6).Draw(t, "puts") {
			batch := map[string]register.Record{}
			for range rapid.IntRange(1, 12).Draw(t, "records") {
				c := drawRecord(t)
				batch[c.Path], model[c.Path] = c, c
			}
			var list []register.Record
			for _, c := range batch {
				list = append(list, c)
			}
			r.Put(list)
			r.Expect(rapid.IntRange(0, 20).Draw(t, "times as many to come"))
		}
		f := register.Filter{
			Pattern: point.Pattern(rapid.SampledFrom([]string{"", "a", "a/*", "**/B", "*/*", "a*/**", "/", "**", "**/a*/B", "a/*/B", "*a/B", "**/B/é", "**/a/*", "*/a/**/B"}).Draw(t, "pattern")),
			Text:    rapid.SampledFrom([]string{"", "A", "b/É", "äu", "/", "a/", `"<`, "é-", "äu A", " ", "b a/"}).Draw(t, "text"),
			Unit:    rapid.SampledFrom([]string{"", "a"}).Draw(t, "unit"), Device: point.Path(rapid.SampledFrom([]string{"", "a"}).Draw(t, "of")),
			Removed: rapid.Bool().Draw(t, "also removed"), After: point.Path(rapid.SampledFrom([]string{"", "a", "a/B", "é"}).Draw(t, "after")),
			Tags:  rapid.SampledFrom([]map[string]string{nil, {"equip": ""}, {"equip": "ahu"}, {"floor": "1"}}).Draw(t, "asked"),
			Limit: rapid.IntRange(1, 5).Draw(t, "limit"),
		}
		page, err := r.Search(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range page.Entries {
			got = append(got, string(e.Path))
		}
		want, more := selected(model, &f)
		if d := gocmp.Diff(want, got); d != "" || (page.Next != "") != more {
			t.Fatalf("%+v: next is %q; %s", f, page.Next, d)
		}
		all, free := r.Count()
		for _, c := range model {
			if c.Removed == 0 {
				all--
				if c.Device == "" && c.Child == "" {
					free--
				}
			}
		}
		if all != 0 || free != 0 {
			t.Fatalf("it counts %d points and %d free ones too many", all, free)
		}
	})
}

// selected is Search as one would write it without thinking of time.
func selected(model map[string]register.Record, f *register.Filter) (paths []string, more bool) {
	for p, c := range model {
		says := true
		for word := range strings.FieldsSeq(strings.ToLower(f.Text)) {
			says = says && (strings.Contains(strings.ToLower(p), word) || strings.Contains(strings.ToLower(c.Unit), word) ||
				strings.Contains(strings.ToLower(c.Description), word))
		}
		ok := f.Pattern.Match(point.Path(p)) && says && p > string(f.After) && (f.Removed || c.Removed == 0) &&
			(f.Unit == "" || c.Unit == f.Unit) && (f.Device == "" || c.Device == string(f.Device))
		for name, value := range f.Tags {
			ok = ok && strings.Contains(c.Tags, `"`+name+`":"`+value)
		}
		if ok {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	if len(paths) > f.Limit {
		return paths[:f.Limit], true
	}
	return paths, false
}

func TestBlocksAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.Custom(drawRecord), 0, 20).Draw(t, "records")
		text := register.Encode(records)
		got, err := register.Decode(nil, text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		order := func(a, b register.Record) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(fmt.Sprintf("%#v", a), fmt.Sprintf("%#v", b)))
		}
		slices.SortFunc(got, order)
		slices.SortFunc(records, order)
		if !slices.Equal(got, records) {
			t.Fatalf("%s\ngave %+v\nwant %+v", text, got, records)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`[[1,false,"kWh",0,{"source":"ingest"},0,0,"","","",1790000000000000,["a/b","a/\u003cc"]]]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, err := register.Decode(nil, text)
		if err != nil {
			return
		}
		if again, err := register.Decode(nil, register.Encode(records)); err != nil || len(again) != len(records) {
			t.Errorf("%d records are %d when they are written again: %v", len(records), len(again), err)
		}
	})
}

// meters are the points from one to before another.
func meters(from, to int) []register.Record {
	records := make([]register.Record, to-from)
	for i := from; i < to; i++ {
		records[i-from] = register.Record{
			Path:      fmt.Sprintf("city/district%d/meter%07d/%s", i/4000, i/4, [4]string{"current", "energy", "power", "voltage"}[i%4]),
			FirstSeen: 1, Traits: register.Traits{Kind: point.Float, Tags: `{"source":"ingest"}`},
		}
	}
	return records
}

func TestAPointTakesLittleMemory(t *testing.T) {
	const points, most = 400_000, 40
	before := alive()
	r := register.New()
	for i := 0; i < points; i += 10_000 {
		r.Put(meters(i, i+10_000))
	}
	if each := float64(alive()-before) / points; each > most {
		t.Errorf("a point takes %.1f bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(r)
}

// alive is the memory in use, in bytes.
func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkMillion(b *testing.B) {
	records := meters(0, 1_000_000)
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			r := register.New()
			for part := range slices.Chunk(records, 10_000) {
				r.Put(part)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		var blocks [][]byte
		for part := range slices.Chunk(records, 10_000) {
			blocks = append(blocks, register.Encode(part))
		}
		var list []register.Record
		for b.Loop() {
			for _, text := range blocks {
				list, _ = register.Decode(list[:0], text)
			}
		}
	})
	r := register.New()
	r.Put(records)
	for name, f := range map[string]register.Filter{
		"text": {Text: "no such text"}, "pattern": {Pattern: "city/*/meter*/x*"}, "wild": {Pattern: "**/*9/power", Unit: ""}, "tag": {Tags: map[string]string{"x": ""}},
		"slash": {Text: "0249999/power"}, "words": {Text: "0249999 power district"}, "all": {Limit: 10_000},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Search(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAPatternWithWildcardsAmongAMillionPoints(b *testing.B) {
	const meters = 250_000
	r := register.New()
	var list []register.Record
	for m := range meters {
		for _, quantity := range []string{"current", "energy", "power", "voltage"} {
			list = append(list, register.Record{Path: fmt.Sprintf("city/district%d/meter%07d/%s", m/1000, m, quantity)})
		}
	}
	r.Put(list)
	f := register.Filter{Pattern: "**/*0249999/power"}
	for b.Loop() {
		page, err := r.Search(b.Context(), f)
		if err != nil || len(page.Entries) != 1 {
			b.Fatal(page, err)
		}
	}
}
