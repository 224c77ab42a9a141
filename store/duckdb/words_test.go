package duckdb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// texts makes a block of the point "t" with one sample a second from start on.
func texts(sequence uint64, start time.Time, values ...string) *point.Block {
	b := &point.Block{Origin: "a", Sequence: sequence, Points: []point.Path{"t"}}
	for i, v := range values {
		b.Append(0, &point.Sample{Time: start.Add(time.Duration(i) * time.Second), Value: point.TextOf(v)})
	}
	return b
}

func wantTexts(t *testing.T, s store.Store, from time.Time, want []string) {
	t.Helper()
	var got []string
	r := store.Range{Points: []point.Path{"t"}, From: from, To: from.AddDate(0, 0, 9)}
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		for _, sample := range run {
			got = append(got, sample.Value.Text())
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, texts (-want +got):\n%s", err, diff)
	}
}

func TestTextsAreKeptHoweverManyThereAre(t *testing.T) {
	const perBlock, blocks = 5000, 5 // more than the store remembers
	s := open(t, duckdb.Options{Dir: t.TempDir()})
	defer closeStore(t, s)
	var want []string
	for n := range blocks {
		values := make([]string, perBlock)
		for i := range values {
			values[i] = fmt.Sprintf("alarm %d of %d", i%3000, n/2)
		}
		values[7] = strings.Repeat("a long text ", 1000)
		want = append(want, values...)
		appendBlocks(t, s, texts(uint64(n+1), noon().AddDate(0, 0, -2).Add(time.Duration(n)*time.Hour*2), values...))
	}
	wantTexts(t, s, noon().AddDate(0, 0, -2), want)
	maintain(t, s, noon())
	wantTexts(t, s, noon().AddDate(0, 0, -2), want)
}

func TestTextsAreFoundAgainByANewProcess(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for n := range uint64(3) {
		s := open(t, duckdb.Options{Dir: dir})
		values := []string{"on", "off", "", fmt.Sprint("round ", n), "on"}
		want = append(want, values...)
		appendBlocks(t, s, texts(n+1, noon().Add(time.Duration(n)*time.Hour), values...))
		wantTexts(t, s, noon(), want)
		latest, err := s.Latest(t.Context(), []point.Path{"t"})
		if err != nil || latest[0].Value != point.TextOf("on") {
			t.Errorf("the latest text is %v, %v", latest, err)
		}
		closeStore(t, s)
	}
	s := open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	latest, err := s.Latest(t.Context(), []point.Path{"t"})
	if err != nil || latest[0].Value != point.TextOf("on") {
		t.Errorf("the latest text is %v, %v after opening", latest, err)
	}
	got, err := ask(t.Context(), s, "SELECT text, kind, value, exact FROM samples ORDER BY time LIMIT 2")
	if diff := cmp.Diff([][]any{{"on", "text", nil, nil}, {"off", "text", nil, nil}}, got.rows); diff != "" || err != nil {
		t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
	}
}

func TestSQLShowsTheColumnsOfAClosedDayForAnOpenOne(t *testing.T) {
	s := open(t, duckdb.Options{Dir: t.TempDir()})
	defer closeStore(t, s)
	b := &point.Block{Origin: "a", Sequence: 1, Points: []point.Path{"p"}}
	for i, v := range []point.Value{
		{},
		point.FloatOf(1.5), point.FloatOf(negativeZero()), point.IntOf(7), point.IntOf(1<<63 - 1), point.IntOf(-1<<53 - 1),
		point.BoolOf(true), point.TextOf("up"),
	} {
		b.Append(0, &point.Sample{Time: noon().AddDate(0, 0, -2).Add(time.Duration(i) * time.Second), Value: v, Quality: point.Uncertain})
	}
	appendBlocks(t, s, b)
	for _, when := range []string{"open", "closed"} {
		got, err := ask(t.Context(), s, "SELECT kind, value, exact, text, quality FROM samples ORDER BY time")
		want := [][]any{
			{"none", nil, nil, nil, int64(64)},
			{"float", 1.5, nil, nil, int64(64)},
			{"float", 0.0, int64(0), nil, int64(64)},
			{"int", 7.0, nil, nil, int64(64)},
			{"int", float64(1 << 63), int64(1<<63 - 1), nil, int64(64)},
			{"int", float64(-1 << 53), int64(-1<<53 - 1), nil, int64(64)},
			{"bool", 1.0, nil, nil, int64(64)},
			{"text", nil, nil, "up", int64(64)},
		}
		if diff := cmp.Diff(want, got.rows); diff != "" || err != nil {
			t.Errorf("an %s day: error %v, rows (-want +got):\n%s", when, err, diff)
		}
		maintain(t, s, noon())
	}
}

func negativeZero() float64 {
	zero := 0.0
	return -zero
}
