package storetest

import (
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store"
)

func dayTests() []test {
	return []test{
		{"a day is closed when it has ended and not before", testDayClose},
		{"late samples of a closed day are read at once and merged later", testLate},
		{"late samples replace those of a closed day", testLateVersions},
		{"days beyond the age are dropped whole", testRetentionAge},
		{"the oldest days are dropped beyond the bytes", testRetentionBytes},
		{"a dropped day may be filled again", testRefill},
		{"old days arrive in any order", testBackfill},
	}
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

func testDayClose(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("p", at(0).Add(days(1)), 2))
	f.maintain(at(1))
	want(t, "open before the end of the day", 2, f.stats().Open)
	f.maintain(noon().Add(days(1)))
	s := f.stats()
	want(t, "closed when the first day has ended", 1, s.Closed)
	want(t, "open when the first day has ended", 1, s.Open)
	want(t, "samples", uint64(2), s.Samples)
	want(t, "oldest", time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), s.Oldest)
	if s.Bytes <= 0 {
		t.Errorf("bytes are %d, want more than none", s.Bytes)
	}
	f.wantRead(everything("p"), float("p", at(0), 1), float("p", at(0).Add(days(1)), 2))
}

func testLate(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("p", at(10), 2), float("q", at(0), 9))
	f.maintain(noon().Add(days(2)))
	f.append(float("p", at(5), 3), float("p", at(-5), 4), float("new", at(1), 5))
	expected := []point.Sample{
		float("p", at(-5), 4), float("p", at(0), 1), float("p", at(5), 3), float("p", at(10), 2),
		float("new", at(1), 5), float("q", at(0), 9),
	}
	f.wantRead(everything("p", "new", "q"), expected...)
	f.reopen()
	f.wantRead(everything("p", "new", "q"), expected...)
	for i := range 3 {
		f.maintain(noon().Add(days(3 + i)))
		f.wantRead(everything("p", "new", "q"), expected...)
	}
	s := f.stats()
	want(t, "open days", 0, s.Open)
	want(t, "closed days", 1, s.Closed)
	want(t, "samples", uint64(6), s.Samples)
	f.reopen()
	f.wantRead(everything("p", "new", "q"), expected...)
}

func testLateVersions(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(0), 1), float("p", at(1), 2))
	f.maintain(noon().Add(days(2)))
	f.append(float("p", at(0), 3))
	f.append(float("p", at(0), 4))
	eachState(t, f, func(t *testing.T) {
		f.wantRead(everything("p"), float("p", at(0), 4), float("p", at(1), 2))
		s := f.stats()
		want(t, "samples and replaced", uint64(4), s.Samples+s.Replaced)
	})
	for i := range 3 {
		f.maintain(noon().Add(days(40 + i)))
	}
	want(t, "replaced", uint64(2), f.stats().Replaced)
	want(t, "overwritten", uint64(2), f.stats().Overwritten)
	f.wantRead(everything("p"), float("p", at(0), 4), float("p", at(1), 2))
}

func testRetentionAge(t *testing.T, place Place) {
	f := start(t, place, store.Retention{Age: days(3)})
	for i := range 6 {
		f.append(float("p", at(0).Add(days(i)), float64(i)))
		f.maintain(noon().Add(days(i)))
	}
	f.append(float("gone", at(0), 1))
	f.maintain(noon().Add(days(5)))
	check := func(*testing.T) {
		f.wantRead(everything("p", "gone"),
			float("p", at(0).Add(days(2)), 2), float("p", at(0).Add(days(3)), 3),
			float("p", at(0).Add(days(4)), 4), float("p", at(0).Add(days(5)), 5))
		s := f.stats()
		want(t, "expired", uint64(3), s.Expired)
		want(t, "samples", uint64(4), s.Samples)
		got, err := f.Latest(t.Context(), []point.Path{"gone", "p"})
		want(t, "error", nil, err)
		want(t, "latest", []point.Sample{{}, float("p", at(0).Add(days(5)), 5)}, got)
	}
	check(t)
	f.reopen()
	check(t)
	paths, err := f.Points(t.Context())
	want(t, "error", nil, err)
	want(t, "points that have or had samples", []point.Path{"gone", "p"}, paths)
}

func testRetentionBytes(t *testing.T, place Place) {
	f := start(t, place, store.Retention{Bytes: 1})
	for i := range 3 {
		f.append(float("p", at(0).Add(days(i)), float64(i)))
	}
	f.maintain(noon().Add(days(2)))
	f.wantRead(everything("p"), float("p", at(0).Add(days(2)), 2))
	f.reopen()
	f.wantRead(everything("p"), float("p", at(0).Add(days(2)), 2))
	want(t, "expired", uint64(2), f.stats().Expired)
}

func testRefill(t *testing.T, place Place) {
	f := start(t, place, store.Retention{Bytes: 1})
	f.append(float("p", at(0), 1))
	f.maintain(noon().Add(days(2)))
	f.wantRead(everything("p"))
	f.append(float("p", at(0), 2))
	f.wantRead(everything("p"), float("p", at(0), 2))
	f.reopen()
	f.wantRead(everything("p"), float("p", at(0), 2))
}

func testBackfill(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	for _, d := range []int{-3, 4, 0, -1, 2, -3} {
		f.append(float("p", at(float64(d)).Add(days(d)), float64(d)))
		f.maintain(noon())
	}
	eachState(t, f, func(*testing.T) {
		f.wantRead(everything("p"),
			float("p", at(-3).Add(days(-3)), -3), float("p", at(-1).Add(days(-1)), -1), float("p", at(0), 0),
			float("p", at(2).Add(days(2)), 2), float("p", at(4).Add(days(4)), 4))
	})
}
