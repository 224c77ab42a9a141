package node_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/api/client"
	dataquality "voltbus/operation/judge"
	"voltbus/operation/sinks"
	"voltbus/point"
)

// A rule withholds a reading from a destination. It is recorded, listed with its reason, and sent when a person releases it; the account
// of the destination adds up all the while.
func TestWithheldReadingsWaitForAPerson(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "out.sqlite")
	r := run(t, load(t, dir, listenAnywhere+fmt.Sprintf(`
sinks:
  - {name: file, kind: sqlite, into: %q, points: ["plant/**"]}
judge:
  - {name: warm, check: range, points: ["plant/*/temp"], low: -20, high: 90}
`, file)))
	begun := time.Now().UTC().Truncate(time.Millisecond)
	for i, value := range []float64{20, 21, 500, 22, -300} {
		s := point.Sample{Point: "plant/a/temp", Time: begun.Add(time.Duration(i) * time.Millisecond), Value: point.FloatOf(value)}
		if err := r.Record(wait(t), []point.Sample{s}); err != nil {
			t.Fatal(err)
		}
	}
	account := func() sinks.SinkState {
		list, err := client.Do(wait(t), r.Client, sinks.List, struct{}{})
		if err != nil || len(list.Sinks) != 1 {
			t.Fatal(list, err)
		}
		return list.Sinks[0]
	}
	rules := func() dataquality.AllRules {
		all, err := client.Do(wait(t), r.Client, dataquality.List, struct{}{})
		if err != nil || len(all.Rules) != 1 || len(all.Kept) != 1 {
			t.Fatal(all, err)
		}
		return all
	}
	eventually(t, "two are withheld and the others are there", func() bool {
		return countRows(t, file) == 3 && rules().Rules[0].Withheld == 2 && account().Waiting == 0
	})
	held, err := client.Do(wait(t), r.Client, dataquality.Withheld, dataquality.Page{Sink: "file", Limit: 10})
	if err != nil || len(held.Readings) != 2 || !strings.Contains(fmt.Sprint(held), "500") || !strings.Contains(fmt.Sprint(held), "warm") {
		t.Errorf("what is withheld: %+v, %v", held, err)
	}
	samples, err := client.Do(wait(t), r.Client, dataquality.Release, dataquality.Held{Sink: "file", Rule: "warm"})
	if err != nil {
		t.Fatal(samples, err)
	}
	eventually(t, "a person released them", func() bool {
		return countRows(t, file) == 5 && rules().Kept[0].Released == 2 && rules().Kept[0].Kept == 0
	})
	if a := account(); !a.Balanced {
		t.Errorf("the account does not add up: %+v", a)
	}
	if _, err := client.Do(wait(t), r.Client, dataquality.Release, dataquality.Held{Sink: "nobody"}); err == nil || !strings.Contains(err.Error(), "voltbus sinks list") {
		t.Errorf("a destination that does not exist: %v", err)
	}
}
