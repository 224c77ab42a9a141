package node_test

import (
	"fmt"
	"os"
	"os/exec"
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

// A function in Python withholds readings from a destination, in a process that the node started. When it fails, the destination gets marked readings,
// and the node's health and the list of rules say why.
func TestAFunctionInPythonJudgesWhatIsSent(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no Python")
	}
	dir := t.TempDir()
	file, rule := filepath.Join(dir, "out.sqlite"), filepath.Join(dir, "rule.py")
	if err := os.WriteFile(rule, []byte(`
from voltbus.rule import each, withhold
@each
def odd(reading):
    if reading.value == 13.0:
        return withhold("unlucky")
    if reading.value == 666.0:
        raise ValueError("the number of the beast")
`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, load(t, dir, listenAnywhere+fmt.Sprintf(`
sinks:
  - {name: file, kind: sqlite, into: %q, points: ["plant/**"]}
judge:
  - {name: luck, check: function, file: rule.py}
`, file)))
	record := func(value float64) {
		if err := r.Record(wait(t), []point.Sample{{Point: "plant/a", Time: time.Now().UTC(), Value: point.FloatOf(value)}}); err != nil {
			t.Fatal(err)
		}
	}
	rules := func() dataquality.RuleState {
		all, err := client.Do(wait(t), r.Client, dataquality.List, struct{}{})
		if err != nil || len(all.Rules) != 1 {
			t.Fatal(all, err)
		}
		return all.Rules[0]
	}
	record(12)
	record(13)
	eventually(t, "one is withheld, and one is sent", func() bool { return countRows(t, file) == 1 && rules().Withheld == 1 })
	record(666)
	eventually(t, "the one that it cannot judge is sent", func() bool { return countRows(t, file) == 2 && rules().Unjudged == 1 })
	if s := rules(); !strings.Contains(s.Failing, "rule.py, line 8: ValueError: the number of the beast") {
		t.Errorf("the list says %+v", s)
	}
	if err := os.WriteFile(rule, []byte("from voltbus.rule import each, withhold\n@each\ndef f(r):\n    return withhold('all')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new file judges", func() bool {
		record(12)
		s := rules()
		return s.Withheld > 1 && s.Failing == ""
	})
}
