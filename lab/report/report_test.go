package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"voltbus/fault"
	"voltbus/lab/account"
	"voltbus/lab/experiment"
	"voltbus/lab/load"
	"voltbus/lab/machine"
	"voltbus/lab/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is a text that would be markup if it were not escaped.
const hostile = `<script>alert("x")</script>&'`

// result is a run with everything in it, and the same in each test.
func result() *experiment.Result {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	r := &experiment.Result{
		Format: experiment.Format, Experiment: "example", Title: "An example " + hostile, Question: "How long?",
		Source: "A report, table 1", Method: []string{"Measured."}, Limits: []string{"One machine."},
		Metric: experiment.Metric{Name: "interval", Unit: "s", Axis: "devices"}, Started: at, Finished: at.Add(time.Minute),
		Command: []string{"voltbus", "lab", "run", "example", "--set", "word=it's"}, Version: "1.0", Commit: "abc", Seed: 7, Repeats: 3,
		Settings: map[string]string{"word": hostile}, Machine: machine.Description{CPU: "Example CPU", Cores: 2, Memory: 8 << 30},
		Skipped: []experiment.Skipped{{Peer: "other", Reason: "is not installed"}}, Notes: []string{"A note."},
		Verdict:  []string{"Better."},
		Findings: []experiment.Finding{{Key: "limit", Name: "Limit " + hostile, Value: 66, Unit: "1/s", Published: 4, Note: "found by halving"}},
		Tables: []experiment.Table{{
			Title: "A heat map", Head: []string{"rate", "b = 1", "b = 2"}, Rows: [][]string{{"ten", "100 %", "50 %"}, {hostile, "1 %", "0 %"}},
			Shades: [][]float64{{1, 0.5}, {0.01}},
		}},
		Plots: []experiment.Plot{{
			Title: "A distribution " + hostile, X: experiment.Axis{Name: "ms " + hostile}, Y: experiment.Axis{Name: "%", Even: true},
			Lines: []experiment.Line{
				{Label: "first", Group: "1", Dots: []experiment.Dot{{X: 1, Y: 0}, {X: 2, Y: 50, Least: 40, Most: 60}, {X: 8, Y: 100}}},
				{Label: "published " + hostile, Group: "1", Published: true, Dots: []experiment.Dot{{X: 4, Y: 0}, {X: 4, Y: 100}}},
				{Label: "second", Dots: []experiment.Dot{{X: 3, Y: 100}}},
			},
		}},
	}
	for i, x := range []float64{10, 100} {
		m := experiment.Measured{
			Case: experiment.Case{Name: []string{"ten", "hundred"}[i], X: x}, Subject: experiment.Own,
			Values: []float64{x / 1000, x / 900, x / 1100}, Median: x / 1000, Least: x / 1100, Most: x / 900,
			Published: []experiment.Figure{{Label: "Pi " + hostile, Value: x / 10}}, Peer: &experiment.Figure{Label: "peer", Value: x / 50},
			Ratios: []experiment.Ratio{{Against: "peer", Times: 20}, {Against: "side", Times: 2, SameRun: true}},
			Also:   []experiment.Extra{{Name: "slowest", Unit: "s", Values: []float64{3, 1, 2}}},
			Usage:  []experiment.PartUsage{{Part: "this process", Usage: machine.Usage{Wall: 2, CPU: 1, Memory: 1 << 20, Peak: 2 << 20}}},
		}
		r.Cases = append(r.Cases, m)
	}
	h := load.NewHistogram()
	for i := range 1000 {
		h.Add(time.Duration(i+1) * time.Millisecond)
	}
	s := h.Summary()
	r.Cases[0].Latency = &s
	r.Cases[0].Account = &account.Balance{Sent: 10, Acknowledged: 10, Found: 9, Lost: 1}
	r.Cases[0].Course = []experiment.Moment{
		{Repeat: 1, At: 1, Rate: 50}, {Repeat: 2, At: 1, Rate: 100, Clients: 7, P50: 0.001, P99: 0.002}, {Repeat: 2, At: 2, Rate: 120, Clients: 9, P50: 0.001, P99: 0.004},
	}
	r.Cases[0].Collected = &experiment.Collections{Count: 3, Pause: 0.0005}
	r.Cases[0].Generator = &load.HeadRoom{Due: 10, Sent: 10}
	return r
}

func TestTheReportHasItsGoldenShape(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.html": func(b *bytes.Buffer) error { return report.HTML(b, result()) },
		"report.txt":  func(b *bytes.Buffer) error { return report.Text(b, result()) },
		"compare.txt": func(b *bytes.Buffer) error {
			after := result()
			after.Cases[0].Median, after.Cases[0].Least, after.Cases[0].Most = 0.5, 0.4, 0.6
			return report.Compare(b, result(), after)
		},
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (run with -update if it should): %s", name, diff)
		}
	}
}

func html(t *testing.T, r *experiment.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThePageRunsNothingAndLoadsNothing(t *testing.T) {
	page := html(t, result())
	for _, bad := range []string{"<script", "http://", "https://", " src=", " href=", " style=", "@import", "url(", " on"} {
		if at := strings.Index(page, bad); at >= 0 && bad != " on" {
			t.Errorf("the page holds %q: %.80q", bad, page[at:])
		}
	}
	if regexp.MustCompile(`<[^>]* on[a-z]+=`).MatchString(page) {
		t.Error("the page holds a handler")
	}
}

func TestThePolicyAllowsThePagesOwnStyleOnly(t *testing.T) {
	_, rest, _ := strings.Cut(html(t, result()), "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(report.Policy(), want) {
		t.Errorf("the policy %q lacks %s", report.Policy(), want)
	}
}

func TestAnEmptyResultStillMakesAPage(t *testing.T) {
	if page := html(t, &experiment.Result{Experiment: "empty"}); !strings.Contains(page, "There is no published figure") {
		t.Error(page)
	}
}

func TestAnOddFigureDoesNotBreakThePlot(t *testing.T) {
	r := result()
	r.Cases[0].Median, r.Cases[0].Least = 0, -1
	r.Cases[1].Case.X = 0
	if page := html(t, r); strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Error("the page holds a figure that is none")
	}
}

func TestAResultIsReadAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	if err := report.Write(dir, result()); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	if err := report.HTML(&a, result()); err != nil {
		t.Fatal(err)
	}
	if err := report.HTML(&b, got); err != nil || a.String() != b.String() {
		t.Error("the page of what was read differs", err)
	}
}

func TestTheResultFitsItsSchema(t *testing.T) {
	dir := t.TempDir()
	if err := report.Write(dir, result()); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../docs/reference/lab-result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, report.ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	value, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Error(err)
	}
}

func TestWhatIsNoResultIsRefused(t *testing.T) {
	for content, kind := range map[string]fault.Kind{"": fault.Corrupt, "{": fault.Corrupt, `{"format":"other/1"}`: fault.Corrupt} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, report.ResultFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := report.Read(dir); fault.KindOf(err) != kind {
			t.Errorf("%q: %v", content, err)
		}
	}
	if _, err := report.Read(t.TempDir()); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

func TestAFigureThatIsNoNumberCannotBeWritten(t *testing.T) {
	r := result()
	r.Cases[0].Median = math.NaN()
	if err := report.Write(t.TempDir(), r); err == nil {
		t.Error("a result that is no JSON was written")
	}
}
