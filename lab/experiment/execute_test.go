package experiment_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
)

func lower(run func(context.Context, *experiment.Bench) error) experiment.Experiment {
	return experiment.Experiment{
		Name: "test", Metric: experiment.Metric{Name: "interval", Unit: "s"}, Run: run,
		Published: []experiment.Published{{
			Case: experiment.Case{Name: "ten", X: 10}, Figures: []experiment.Figure{{Label: "Pi", Value: 8}},
			Peer: &experiment.Figure{Label: "peer", Value: 4},
		}},
		Settings: []experiment.Setting{
			{Name: "n", Default: "5", Quick: "2"}, {Name: "wait", Default: "1s"}, {Name: "own", Default: "false"}, {Name: "word", Default: "x"},
		},
	}
}

// values measures the case "ten" with one value a repeat.
func values(v ...float64) func(context.Context, *experiment.Bench) error {
	return func(ctx context.Context, b *experiment.Bench) error {
		return b.Measure(ctx, experiment.Case{Name: "ten", X: 10}, func(_ context.Context, t *experiment.Trial) error {
			t.Value(v[t.Repeat])
			return nil
		})
	}
}

func TestACaseIsSetBesideThePublishedTable(t *testing.T) {
	r, err := experiment.Execute(t.Context(), lower(values(2, 1, 4)), experiment.Options{Repeats: 3, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Cases[0]
	if m.Median != 2 || m.Least != 1 || m.Most != 4 {
		t.Errorf("%+v", m)
	}
	want := []experiment.Ratio{{Against: "peer", Times: 2}, {Against: "Pi", Times: 4}}
	if diff := cmp.Diff(want, m.Ratios); diff != "" {
		t.Error(diff)
	}
	if text := strings.Join(r.Verdict, " "); !strings.Contains(text, "Against Pi: better in 1 of 1 cases, 4.00 to 4.00 times") {
		t.Error(text)
	}
}

func TestMoreIsBetterWhereTheMetricSaysSo(t *testing.T) {
	e := lower(values(16))
	e.Metric.Higher = true
	r, err := experiment.Execute(t.Context(), e, experiment.Options{Repeats: 1, Dir: t.TempDir()})
	if err != nil || r.Cases[0].Ratios[1].Times != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestPeersRunInTheSameRunOrAreSkippedWithAWord(t *testing.T) {
	e := lower(values(2))
	here := func() error { return nil }
	e.Peers = []experiment.Peer{
		{Name: "fast", Find: here, Run: values(1)},
		{Name: "absent", Find: func() error { return errors.New("install it with apt") }},
		{Name: "broken", Find: here, Run: func(context.Context, *experiment.Bench) error { return errors.New("port taken") }},
	}
	r, err := experiment.Execute(t.Context(), e, experiment.Options{Repeats: 1, Dir: t.TempDir(), WithPeers: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]experiment.Skipped{{Peer: "absent", Reason: "install it with apt"}, {Peer: "broken", Reason: "it failed: port taken"}}, r.Skipped); diff != "" {
		t.Error(diff)
	}
	if got := r.Cases[0].Ratios[0]; got != (experiment.Ratio{Against: "fast", Times: 0.5, SameRun: true}) || len(r.Cases) != 2 {
		t.Errorf("%+v of %d cases", got, len(r.Cases))
	}
}

func TestSettingsAreTheDefaultsWithWhatTheRunChanges(t *testing.T) {
	var n, wait, own string
	e := lower(func(_ context.Context, b *experiment.Bench) error {
		n, wait, own = b.Text("n"), b.Duration("wait").String(), b.Text("own")
		if b.Int("n") == 0 || b.Flag("own") != (own == "true") {
			t.Error(n, own)
		}
		return nil
	})
	_, err := experiment.Execute(t.Context(), e, experiment.Options{Quick: true, Set: map[string]string{"wait": "2m", "own": "true"}})
	if err != nil || n != "2" || wait != "2m0s" || own != "true" {
		t.Error(n, wait, own, err)
	}
}

func TestWrongSettingsAreRefusedAllAtOnce(t *testing.T) {
	ran := false
	e := lower(func(context.Context, *experiment.Bench) error { ran = true; return nil })
	_, err := experiment.Execute(t.Context(), e, experiment.Options{Set: map[string]string{
		"n": "many", "wait": "-1s", "own": "maybe", "word": strings.Repeat("x", 300), "m": "1",
	}})
	if fault.KindOf(err) != fault.Invalid || ran {
		t.Fatal(err, ran)
	}
	for _, want := range []string{`"many" is no number`, `"-1s" is no duration`, "neither true nor false", "more than 200", `no setting "m"; there are n, wait`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestAnInterruptedRunHasNoResultAndLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	e := lower(func(ctx context.Context, b *experiment.Bench) error {
		return b.Measure(ctx, experiment.Case{Name: "ten"}, func(ctx context.Context, tr *experiment.Trial) error {
			cancel()
			if err := os.WriteFile(tr.Dir+"/x", nil, 0o600); err != nil {
				t.Error(err)
			}
			return ctx.Err()
		})
	})
	r, err := experiment.Execute(ctx, e, experiment.Options{Dir: dir})
	if r != nil || fault.KindOf(err) != fault.Canceled {
		t.Error(r, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

func TestATrialWithoutAValueIsADefect(t *testing.T) {
	e := lower(func(ctx context.Context, b *experiment.Bench) error {
		return b.Measure(ctx, experiment.Case{Name: "ten"}, func(context.Context, *experiment.Trial) error { return nil })
	})
	if _, err := experiment.Execute(t.Context(), e, experiment.Options{Dir: t.TempDir()}); fault.KindOf(err) != fault.Internal {
		t.Error(err)
	}
}

func TestAccountsAndTheGeneratorAreInTheVerdict(t *testing.T) {
	var seen []experiment.Progress
	e := lower(func(ctx context.Context, b *experiment.Bench) error {
		return b.Measure(ctx, experiment.Case{Name: "ten"}, func(_ context.Context, t *experiment.Trial) error {
			t.Value(1)
			t.Also("slowest", "s", 2)
			h := load.NewHistogram()
			h.Add(1e6)
			t.Latency(h)
			t.Account(account.Balance{Sent: 2, Acknowledged: 2, Lost: 1})
			t.Generator(load.HeadRoom{Due: 10, Sent: 5})
			return nil
		})
	})
	r, err := experiment.Execute(t.Context(), e, experiment.Options{
		Repeats: 2, Dir: t.TempDir(), Progress: func(p experiment.Progress) { seen = append(seen, p) },
	})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Cases[0]
	if m.Account.Sent != 4 || m.Latency.Count != 2 || len(m.Also[0].Values) != 2 || m.Usage[0].Part != "this process" {
		t.Errorf("%+v", m)
	}
	for _, want := range []string{"2 acknowledged samples are lost", "the generator was too slow"} {
		if text := strings.Join(r.Verdict, " "); !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", text, want)
		}
	}
	last := seen[len(seen)-1]
	if last.Repeat != 2 || last.Repeats != 2 || last.Value == nil || last.Done != 1 {
		t.Errorf("the last progress is %+v", last)
	}
}

func TestFiguresAreRoundedToThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.012345: "0.0123", 1.2345: "1.23", 123.45: "123", 98765: "98765"} {
		if got := experiment.Round(v); got != want {
			t.Errorf("Round(%v) = %s, want %s", v, got, want)
		}
	}
}
