package storetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

func appendTests() []test {
	return []test{
		{"every kind of value and every quality comes back as it was stored", testValues},
		{"every value survives the close of its day", testValuesInClosedDay},
		{"strange paths come back as they were stored", testPaths},
		{"a block that was stored before is dropped and counted", testRepeats},
		{"a jump in the sequence is a gap with a known number of samples", testGaps},
		{"positions count what each origin acknowledged", testPositions},
		{"the cursor follows the log, also over repeats", testCursor},
		{"a gap carries the reason that the log gives", testGapReason},
		{"a block may stand for a run of blocks, and count what was left out of them", testRuns},
		{"of a run that reaches over the position only what is new counts as stored", testOverlap},
		{"the reason of a gap is that of the block behind it, and unknown if it has none", testReasons},
		{"origins are counted apart, also those of other nodes and the lanes of one", testOrigins},
		{"blocks without samples move the position", testEmptyBlocks},
		{"a malformed block is refused and nothing of its batch is stored", testMalformed},
		{"an ended context stores nothing", testAppendCanceled},
		{"a large batch of many points over midnight is stored once", testLargeBatch},
		{"a closed store refuses to work", testClosed},
	}
}

// allValues returns one sample of "v" for each interesting value, a second apart, cycling through all
// qualities.
func allValues() []point.Sample {
	vs := []point.Value{
		{},
		point.FloatOf(0), point.FloatOf(math.Copysign(0, -1)), point.FloatOf(21.5),
		point.FloatOf(math.NaN()), point.FloatOf(math.Inf(1)), point.FloatOf(math.Inf(-1)),
		point.FloatOf(math.MaxFloat64), point.FloatOf(math.SmallestNonzeroFloat64),
		point.IntOf(0), point.IntOf(-1), point.IntOf(math.MaxInt64), point.IntOf(math.MinInt64),
		point.IntOf(1<<53 - 1), point.IntOf(1 << 53), point.IntOf(1<<53 + 1), point.IntOf(-(1<<53 + 1)),
		point.BoolOf(true), point.BoolOf(false),
		point.TextOf(""), point.TextOf("on"), point.TextOf("exactly12byt"), point.TextOf("thirteen byte"),
		point.TextOf("<b>Ω</b> 'quoted' \"twice\"\n\x00 end"), point.TextOf(strings.Repeat("long ", 2000)),
	}
	qs := []point.Quality{point.Good, point.Substituted, point.Uncertain, point.Bad, point.BadSensor, 0xff}
	out := make([]point.Sample, len(vs))
	for i, v := range vs {
		out[i] = point.Sample{Point: "v", Time: at(float64(i)), Value: v, Quality: qs[i%len(qs)]}
	}
	return out
}

func testValues(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(allValues()...)
	f.wantRead(everything("v"), allValues()...)
	f.reopen()
	f.wantRead(everything("v"), allValues()...)
}

func testValuesInClosedDay(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(allValues()...)
	f.maintain(noon().AddDate(0, 0, 2))
	want(t, "closed days", 1, f.stats().Closed)
	f.wantRead(everything("v"), allValues()...)
	f.reopen()
	f.wantRead(everything("v"), allValues()...)
}

func testPaths(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	paths := []point.Path{
		"a", "a b", "a.b", "a*", ">", "it's", `say "hi"`, "back\\slash", "semi;colon --comment", "%s%d$1?",
		"{0}", "größe/温度/🌡", "<script>alert(1)</script>", "/", "//", " ", "a/", "A", point.Path(strings.Repeat("x", point.MaxPath)),
	}
	samples := make([]point.Sample, len(paths))
	for i, p := range paths {
		samples[i] = float(p, at(0), float64(i))
	}
	f.append(samples...)
	f.wantRead(everything(paths...), samples...)
	f.maintain(noon().AddDate(0, 0, 2))
	f.reopen()
	f.wantRead(everything(paths...), samples...)
	got, err := f.Points(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "points", sortedPaths(paths), got)
}

func testRepeats(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	b1 := f.origin.block(float("p", at(0), 1), float("p", at(1), 2))
	b2 := f.origin.block(float("p", at(2), 3))
	want(t, "first", store.Result{Stored: 2}, f.appendBlocks(b1))
	want(t, "overlap", store.Result{Stored: 1, Repeated: 2}, f.appendBlocks(b1, b2))
	want(t, "twice in one call", store.Result{Repeated: 4}, f.appendBlocks(b2, b1, b2))
	f.reopen()
	want(t, "after reopening", store.Result{Repeated: 2}, f.appendBlocks(b1))
	f.wantRead(everything("p"), float("p", at(0), 1), float("p", at(1), 2), float("p", at(2), 3))
	pos := f.position("edge-1")
	want(t, "stored", uint64(3), pos.Stored)
	want(t, "repeated", uint64(8), pos.Repeated)
}

func testGaps(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1))
	lost := []*point.Block{f.origin.block(float("p", at(1), 2), float("p", at(2), 3)), f.origin.block(float("p", at(3), 4))}
	want(t, "result", store.Result{Stored: 1, Missing: 3}, f.append(float("p", at(4), 5)))
	late := origin{name: "edge-2", sequence: 9, before: 100}
	f.appendBlocks(late.block(float("q", at(0), 1)))
	want(t, "the missing blocks come too late", store.Result{Repeated: 3}, f.appendBlocks(lost...))
	f.reopen()
	gaps, err := f.Gaps(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for i := range gaps {
		if gaps[i].Noticed.IsZero() {
			t.Errorf("gap %d does not say when it was noticed", i)
		}
		gaps[i].Noticed = time.Time{}
	}
	want(t, "gaps, newest first", []store.Gap{
		{Origin: "edge-2", First: 1, Last: 9, Samples: 100, Reason: "unknown"},
		{Origin: "edge-1", First: 2, Last: 3, Samples: 3, Reason: "unknown"},
	}, gaps)
	gaps, err = f.Gaps(t.Context(), 1)
	want(t, "error", nil, err)
	want(t, "limited gaps", 1, len(gaps))
	want(t, "missing", uint64(3), f.position("edge-1").Missing)
}

func testPositions(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	other := origin{name: `it's "another" node`}
	b := f.origin.block(float("p", at(0), 1), float("p", at(1), 1))
	b.Refused = 7
	f.appendBlocks(b, other.block(float("q", at(0), 1)), f.origin.block(float("p", at(2), 1)), f.origin.block())
	expected := map[string]store.Position{
		"edge-1":   {Sequence: 3, Samples: 3, Stored: 3, Time: at(3)},
		other.name: {Sequence: 1, Samples: 1, Stored: 1, Time: at(1)},
	}
	for _, when := range []string{"at once", "after reopening"} {
		got, err := f.Positions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want(t, "positions "+when, expected, got)
		f.reopen()
	}
}

func testCursor(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	check := func(log string, sequence uint64) {
		t.Helper()
		gotLog, got, err := f.Cursor(t.Context())
		want(t, "error", nil, err)
		want(t, "log", log, gotLog)
		want(t, "sequence", sequence, got)
	}
	check("", 0)
	plain, logged := f.origin.block(float("p", at(0), 1)), f.origin.block(float("p", at(1), 2))
	logged.Log, logged.LogSequence = `it's a "log"`, 41
	f.appendBlocks(plain, logged)
	check(logged.Log, 41)
	f.append(float("p", at(2), 3))
	check(logged.Log, 41)
	repeat := *logged
	repeat.LogSequence = 43
	f.appendBlocks(&repeat)
	f.reopen()
	check(logged.Log, 43)
	broken := *plain
	broken.Log, broken.LogSequence, broken.Sequence = "other", 7, 0
	_, err := f.Append(t.Context(), []*point.Block{&broken})
	wantKind(t, err, fault.Invalid)
	check(logged.Log, 43)
}

func testGapReason(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.origin.block(float("p", at(0), 1))
	b := f.origin.block(float("p", at(1), 2))
	b.Lost = "dropped"
	f.appendBlocks(b)
	gaps, err := f.Gaps(t.Context(), 10)
	want(t, "error", nil, err)
	want(t, "gaps", 1, len(gaps))
	want(t, "reason", "dropped", gaps[0].Reason)
}

func testEmptyBlocks(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	want(t, "nothing", store.Result{}, f.appendBlocks())
	b := f.origin.block()
	b.Refused = 5
	want(t, "empty block", store.Result{}, f.appendBlocks(b))
	f.reopen()
	want(t, "position", store.Position{Sequence: 1, Refused: 5, Time: at(1)}, f.position("edge-1"))
}

func testMalformed(t *testing.T, place Place) {
	bad := map[string]func(*point.Block){
		"no origin":               func(b *point.Block) { b.Origin = "" },
		"no sequence":             func(b *point.Block) { b.Sequence = 0 },
		"short column":            func(b *point.Block) { b.Time = b.Time[:0] },
		"index out of dictionary": func(b *point.Block) { b.Point[0] = 9 },
		"empty path":              func(b *point.Block) { b.Points[0] = "" },
		"path with control":       func(b *point.Block) { b.Points[0] = "a\x00b" },
		"unknown kind":            func(b *point.Block) { b.Kind[0] = 77 },
		"missing text":            func(b *point.Block) { b.Kind[0] = point.Text },
		"broken text":             func(b *point.Block) { b.Texts = append(b.Texts, "\xff") },
		"year 10000":              func(b *point.Block) { b.Time[0] = math.MaxInt64 },
		"year 0":                  func(b *point.Block) { b.Time[0] = math.MinInt64 },
		"first above sequence":    func(b *point.Block) { b.First = b.Sequence + 1 },
		"numbers beyond all":      func(b *point.Block) { b.Before = math.MaxUint64 },
		"left out beyond all":     func(b *point.Block) { b.Left = math.MaxUint64 },
		"origin not UTF-8":        func(b *point.Block) { b.Origin = "\xff" },
		"reason not UTF-8":        func(b *point.Block) { b.Lost = "\xff" },
		"reason without end":      func(b *point.Block) { b.Lost = strings.Repeat("x", 256) },
	}
	for name, spoil := range bad {
		t.Run(name, func(t *testing.T) {
			f := start(t, place, store.Retention{})
			good := f.origin.block(float("p", at(0), 1))
			broken := f.origin.block(float("p", at(1), 1))
			spoil(broken)
			_, err := f.Append(t.Context(), []*point.Block{good, broken})
			wantKind(t, err, fault.Invalid)
			f.wantRead(everything("p"))
			want(t, "result", store.Result{Stored: 1}, f.appendBlocks(good))
		})
	}
}

func testAppendCanceled(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	b := f.origin.block(float("p", at(0), 1))
	_, err := f.Append(canceled(t), []*point.Block{b})
	wantKind(t, err, fault.Canceled)
	f.wantRead(everything("p"))
	want(t, "result", store.Result{Stored: 1}, f.appendBlocks(b))
}

func testLargeBatch(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	var blocks []*point.Block
	var expected []point.Sample
	for i := range 7 {
		var samples []point.Sample
		for j := range 3000 {
			p := point.Path("p/" + string(rune('a'+j%26)))
			n := i*3000 + j
			samples = append(samples, float(p, midnight.Add(time.Duration(n-10000)*time.Second), float64(n)))
		}
		blocks = append(blocks, f.origin.block(samples...))
		expected = append(expected, samples...)
	}
	want(t, "result", store.Result{Stored: len(expected)}, f.appendBlocks(blocks...))
	paths, err := f.Points(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "days", 2, f.stats().Open)
	for _, when := range []string{"at once", "after reopening"} {
		want(t, "samples "+when, byPoint(expected), f.read(everything(paths...)))
		f.reopen()
	}
	f.maintain(midnight.AddDate(0, 0, 3))
	want(t, "samples in closed days", byPoint(expected), f.read(everything(paths...)))
	want(t, "count", uint64(len(expected)), f.stats().Samples)
}

func testClosed(t *testing.T, place Place) {
	open := place(t, store.Retention{})
	s := open()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	o := origin{name: "edge-1"}
	_, err := s.Append(t.Context(), []*point.Block{o.block(float("p", at(0), 1))})
	wantKind(t, err, fault.Unavailable)
	_, err = s.Latest(t.Context(), []point.Path{"p"})
	wantKind(t, err, fault.Unavailable)
	err = s.Read(t.Context(), everything("p"), func([]point.Sample) error { return nil })
	wantKind(t, err, fault.Unavailable)
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}
