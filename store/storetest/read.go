package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

func readTests() []test {
	return []test{
		{"a range holds its beginning and not its end", testRangeBounds},
		{"samples come by point as asked and then by time", testReadOrder},
		{"a limit gives the oldest or the newest samples of each point", testLimit},
		{"bad samples are left out when asked", testGoodOnly},
		{"of two samples with one time the one stored last is returned", testVersions},
		{"what takes the place of something else is counted", testOverwritten},
		{"an unknown point and an empty range give nothing", testReadNothing},
		{"a range that ends before it begins and a negative limit are invalid", testInvalidRange},
		{"an error of emit ends the read and is returned", testEmitError},
		{"an ended context ends the read", testReadCanceled},
		{"latest returns the newest sample by time in the order asked", testLatest},
		{"latest keeps the newest sample when late ones arrive", testLatestLate},
		{"emit may call the store", testReadInsideRead},
	}
}

func sortedPaths(paths []point.Path) []point.Path { return slices.Sorted(slices.Values(paths)) }

// byPoint sorts stably by point and time.
func byPoint(samples []point.Sample) []point.Sample {
	out := slices.Clone(samples)
	slices.SortStableFunc(out, func(a, b point.Sample) int {
		if a.Point != b.Point {
			if a.Point < b.Point {
				return -1
			}
			return 1
		}
		return a.Time.Compare(b.Time)
	})
	return out
}

func canceled(tb testing.TB) context.Context {
	ctx, cancel := context.WithCancel(tb.Context())
	cancel()
	return ctx
}

// eachState runs check on samples that are fresh, reopened, in closed days, and reopened again.
func eachState(t *testing.T, f *fixture, check func(t *testing.T)) {
	t.Helper()
	t.Run("in an open day", check)
	f.reopen()
	t.Run("in an open day after reopening", check)
	f.maintain(noon().AddDate(0, 0, 30))
	t.Run("in a closed day", check)
	f.reopen()
	t.Run("in a closed day after reopening", check)
}

func testRangeBounds(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	us := time.Microsecond
	all := []point.Sample{
		float("p", midnight.Add(-us), 1), float("p", midnight, 2), float("p", midnight.Add(us), 3),
		float("p", midnight.Add(24*time.Hour-us), 4), float("p", midnight.Add(24*time.Hour), 5),
	}
	f.append(all...)
	eachState(t, f, func(*testing.T) {
		f.wantRead(store.Range{Points: []point.Path{"p"}, From: midnight, To: midnight.Add(us)}, all[1])
		f.wantRead(store.Range{Points: []point.Path{"p"}, From: midnight, To: midnight.Add(24 * time.Hour)}, all[1:4]...)
		f.wantRead(store.Range{Points: []point.Path{"p"}, From: midnight.Add(-us), To: midnight}, all[0])
		f.wantRead(store.Range{Points: []point.Path{"p"}, From: midnight.Add(2 * us), To: midnight.Add(9 * time.Hour)})
		f.wantRead(everything("p"), all...)
	})
}

func testReadOrder(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	day := 24 * time.Hour
	a := []point.Sample{float("a", at(0), 1), float("a", at(1), 2), float("a", at(2).Add(day), 3)}
	b := []point.Sample{float("b", at(0), 10), float("b", at(5), 11), float("b", at(0).Add(2*day), 12)}
	f.append(a[0], b[0], a[1], b[1])
	f.append(b[2], a[2])
	eachState(t, f, func(*testing.T) {
		f.wantRead(everything("b", "a"), slices.Concat(b, a)...)
		f.wantRead(everything("a", "none", "b"), slices.Concat(a, b)...)
		f.wantRead(everything("a", "b", "a"), slices.Concat(a, b, a)...)
	})
}

func testLimit(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	var a, b []point.Sample
	for i := range 10 {
		when := at(0).Add(time.Duration(i) * 11 * time.Hour)
		a = append(a, float("a", when, float64(i)))
		b = append(b, point.Sample{Point: "b", Time: when, Quality: point.Quality(i%2) * point.Bad, Value: point.IntOf(int64(i))})
	}
	f.append(slices.Concat(a, b)...)
	eachState(t, f, func(*testing.T) {
		r := everything("a", "b")
		r.Limit = 3
		f.wantRead(r, slices.Concat(a[:3], b[:3])...)
		r.Newest = true
		f.wantRead(r, slices.Concat(a[7:], b[7:])...)
		r.GoodOnly = true
		f.wantRead(r, a[7], a[8], a[9], b[4], b[6], b[8])
		r.Newest = false
		f.wantRead(r, a[0], a[1], a[2], b[0], b[2], b[4])
		r.Limit = 100
		r.GoodOnly = false
		f.wantRead(r, slices.Concat(a, b)...)
		r = store.Range{Points: []point.Path{"a"}, From: a[2].Time, To: a[8].Time, Limit: 2, Newest: true}
		f.wantRead(r, a[6], a[7])
	})
}

func testGoodOnly(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	var all, good []point.Sample
	for i, q := range []point.Quality{point.Good, point.Bad, point.Edited, point.BadSensor, point.Uncertain, 0x7f, 0xff} {
		s := point.Sample{Point: "p", Time: at(float64(i)), Value: point.FloatOf(1), Quality: q}
		all = append(all, s)
		if !q.IsBad() {
			good = append(good, s)
		}
	}
	f.append(all...)
	eachState(t, f, func(*testing.T) {
		f.wantRead(everything("p"), all...)
		r := everything("p")
		r.GoodOnly = true
		f.wantRead(r, good...)
	})
}

func testVersions(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("p", at(1), 1), float("p", at(0), 2), float("q", at(0), 1))
	f.append(float("p", at(1), 3))
	bad := point.Sample{Point: "q", Time: at(0), Quality: point.BadDevice}
	f.append(bad)
	eachState(t, f, func(t *testing.T) {
		f.wantRead(everything("p", "q"), float("p", at(0), 2), float("p", at(1), 3), bad)
		got, err := f.Latest(t.Context(), []point.Path{"p", "q"})
		want(t, "error", nil, err)
		want(t, "latest", []point.Sample{float("p", at(1), 3), bad}, got)
		r := everything("q")
		r.GoodOnly = true
		f.wantRead(r)
		s := f.stats()
		want(t, "samples and replaced", uint64(6), s.Samples+s.Replaced)
	})
	want(t, "replaced", uint64(3), f.stats().Replaced)
	want(t, "overwritten", uint64(3), f.stats().Overwritten)
}

// A sample that replaces a different one is counted at once if it is the newest of its point, otherwise when the day
// is closed. A repeat is not counted.
func testOverwritten(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	text := func(s string) point.Sample { return point.Sample{Point: "t", Time: at(0), Value: point.TextOf(s)} }
	f.append(float("p", at(0), 1), float("p", at(0), 1), text("on"), text("on"))
	f.append(float("p", at(0), 1), text("on"))
	want(t, "overwritten by repeats", uint64(0), f.stats().Overwritten)
	for i := range 20 { // a bouncing contact, reported without times
		f.append(float("p", at(1), float64(i%2)), text([]string{"off", "on"}[i%2]))
	}
	want(t, "overwritten by changes", uint64(19+20), f.stats().Overwritten)
	f.reopen()
	want(t, "overwritten after a start", uint64(19+20), f.stats().Overwritten)
	bad := point.Sample{Point: "p", Time: at(0), Quality: point.BadDevice}
	f.append(bad) // late
	f.append(bad)
	eachState(t, f, func(t *testing.T) {
		f.wantRead(everything("p", "t"), bad, float("p", at(1), 1), text("on"))
	})
	want(t, "overwritten in all", uint64(19+20+1), f.stats().Overwritten)
	want(t, "replaced", uint64(4+39+2), f.stats().Replaced)
}

func testReadNothing(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.wantRead(everything("p"))
	f.append(float("p", at(0), 1))
	f.wantRead(everything())
	f.wantRead(everything("unknown"))
	f.wantRead(store.Range{Points: []point.Path{"p"}, From: at(0), To: at(0)})
	f.wantRead(store.Range{Points: []point.Path{"p"}, From: at(1), To: at(2)})
}

func testInvalidRange(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	none := func([]point.Sample) error { return nil }
	for _, r := range []store.Range{
		{Points: []point.Path{"p"}, From: at(1), To: at(0)},
		{Points: []point.Path{"p"}, From: at(0), To: at(1), Limit: -1},
	} {
		wantKind(t, f.Read(t.Context(), r, none), fault.Invalid)
		_, err := f.Aggregate(t.Context(), store.Query{Range: r, Step: time.Second})
		wantKind(t, err, fault.Invalid)
	}
}

func testEmitError(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("q", at(0), 1))
	enough := errors.New("enough")
	calls := 0
	err := f.Read(t.Context(), everything("p", "q", "p"), func([]point.Sample) error { calls++; return enough })
	if !errors.Is(err, enough) {
		t.Errorf("error is %v, want the one of emit", err)
	}
	want(t, "calls", 1, calls)
	f.wantRead(everything("p"), float("p", at(0), 1))
}

func testReadCanceled(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1))
	err := f.Read(canceled(t), everything("p"), func([]point.Sample) error { return nil })
	wantKind(t, err, fault.Canceled)
	_, err = f.Aggregate(canceled(t), store.Query{Range: everything("p"), Step: time.Second})
	wantKind(t, err, fault.Canceled)
	f.wantRead(everything("p"), float("p", at(0), 1))
}

func testLatest(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("a", at(0), 1), float("b", at(7), 2), float("a", at(5), 3), float("b", at(6), 4))
	text := point.Sample{Point: "c", Time: at(1), Value: point.TextOf("closed"), Quality: point.Uncertain}
	f.append(text)
	eachState(t, f, func(t *testing.T) {
		got, err := f.Latest(t.Context(), []point.Path{"b", "none", "a", "c", "b"})
		want(t, "error", nil, err)
		want(t, "latest", []point.Sample{float("b", at(7), 2), {}, float("a", at(5), 3), text, float("b", at(7), 2)}, got)
		want(t, "newest", at(7), f.stats().Newest)
	})
}

func testLatestLate(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1))
	f.maintain(noon().AddDate(0, 0, 2))
	f.append(float("p", at(-86400), 2), float("q", at(-86400), 3))
	eachState(t, f, func(t *testing.T) {
		got, err := f.Latest(t.Context(), []point.Path{"p", "q"})
		want(t, "error", nil, err)
		want(t, "latest", []point.Sample{float("p", at(0), 1), float("q", at(-86400), 3)}, got)
	})
}

func testReadInsideRead(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("p", at(1), 2))
	var inner []point.Sample
	err := f.Read(t.Context(), everything("p"), func([]point.Sample) error {
		inner = f.read(everything("p"))
		return nil
	})
	want(t, "error", nil, err)
	if diff := cmp.Diff(f.read(everything("p")), inner, values()); diff != "" {
		t.Error(diff)
	}
}
