package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/fault"
)

// bench is a lab with one run.
type bench struct{ order answer.LabOrder }

const labRun = "20260301-120000-table4-abcdef"

var errNoRun = errors.New("no such run")

func (b *bench) run() answer.LabRun {
	return answer.LabRun{ID: labRun, Experiment: "table4", State: "finished", Started: noon(), Verdict: []string{hostile}}
}

func (b *bench) Experiments(context.Context) []answer.LabExperiment {
	return []answer.LabExperiment{{
		Name: "table4", Method: []string{}, Limits: []string{}, Peers: []string{}, Settings: []answer.LabSetting{{Name: "n", Default: "1"}},
		Published: []answer.LabRow{{Case: "1", Figures: []answer.LabFigure{{Label: "x", Value: 1}}}},
	}}
}

func (b *bench) Runs(context.Context) ([]answer.LabRun, error) { return []answer.LabRun{b.run()}, nil }

func (b *bench) Start(_ context.Context, o answer.LabOrder) (answer.LabRun, error) {
	b.order = o
	return b.run(), nil
}

func (b *bench) known(id string) error {
	if id != labRun {
		return fault.E("lab", fault.NotFound, id, errNoRun)
	}
	return nil
}

func (b *bench) Result(_ context.Context, id string) (answer.LabRun, error) {
	r := b.run()
	r.Result = json.RawMessage(`{"format":"voltbus-lab-result/1"}`)
	return r, b.known(id)
}

func (b *bench) Report(_ context.Context, id string) ([]byte, string, error) {
	return []byte("<!doctype html>"), "default-src 'none'; style-src 'sha256-x'", b.known(id)
}
func (b *bench) Stop(_ context.Context, id string) error { return b.known(id) }

func (b *bench) Follow(_ context.Context, _ string, emit func(string, json.RawMessage) error) error {
	for _, event := range []string{"progress", "progress", "end"} {
		if err := emit(event, json.RawMessage(`{"phase":"measuring"}`)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) Capacity(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"measured":"2026-03-01T12:00:00Z","words":["x"],"binds_first":"processor","machine":{},"carries":[{"what":"devices","number":7,"binds":"processor"}],
"figures":{"cpu_per_sample":1,"cpu_per_delivery":1,"log_per_sample":1,"flush":1,"written_per_second":1,"memory_base":1,"memory_per_device":1,"memory_per_point":1,"memory_per_client":1}}`), nil
}

func withLab(b *bench) func(*api.Config) { return func(c *api.Config) { c.Lab = b } }

func TestLabAnswersFitTheDocument(t *testing.T) {
	n := start(t, withLab(&bench{}))
	schema := schemas(t)
	for path, name := range map[string]string{
		"/api/v1/lab/experiments":      "LabExperiments",
		"/api/v1/lab/runs":             "LabRuns",
		"/api/v1/lab/runs/" + labRun:   "LabRun",
		"/api/v1/lab/runs/none":        "Problem",
		"/api/v1/lab/runs/none/report": "Problem",
		"/api/v1/lab/runs/none/stream": "Problem",
		"/api/v1/capacity":             "Capacity",
	} {
		got := n.get(path)
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
		must(t, err)
		if err := schema(name).Validate(value); err != nil {
			t.Errorf("%s: %v\n%.500s", path, err, got.body)
		}
	}
}

func TestAReportHasThePolicyOfItsPage(t *testing.T) {
	n := start(t, withLab(&bench{}))
	got := n.get("/api/v1/lab/runs/" + labRun + "/report")
	if got.Header.Get("Content-Security-Policy") != "default-src 'none'; style-src 'sha256-x'" ||
		got.Header.Get("Content-Type") != "text/html; charset=utf-8" || got.body != "<!doctype html>" {
		t.Errorf("%+v", got)
	}
}

func TestTheProgressOfARunIsAStreamThatEnds(t *testing.T) {
	n := start(t, withLab(&bench{}))
	got := n.get("/api/v1/lab/runs/" + labRun + "/stream")
	if strings.Count(got.body, "event: progress\n") != 2 || strings.Count(got.body, "event: end\n") != 1 {
		t.Error(got.body)
	}
}

func TestANodeWithoutALabSaysSo(t *testing.T) {
	n := start(t)
	for _, path := range []string{"experiments", "runs", "runs/x", "runs/x/report", "runs/x/stream"} {
		if got := n.get("/api/v1/lab/" + path); got.StatusCode != http.StatusServiceUnavailable || !strings.Contains(got.body, "lab") {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

func TestARunIsOrderedStrictlyAndStopped(t *testing.T) {
	b := &bench{}
	n := start(t, withLab(b))
	post := func(body string) reply {
		return n.do("POST", "/api/v1/lab/runs", body, n.bearer(), header("Content-Type", "application/json"))
	}
	if got := post(`{"experiment":"table4","settings":{"n":"2"},"quick":true}`); got.StatusCode != http.StatusOK || !b.order.Quick || b.order.Settings["n"] != "2" {
		t.Errorf("%d %s, order %+v", got.StatusCode, got.body, b.order)
	}
	for body, want := range map[string]string{
		`{"experiment":"x","set":{}}`:                 "unknown field",
		`{"experiment":"x","settings":[1]}`:           "must be a JSON object",
		`{"experiment":"x","settings":{"n":{"a":1}}}`: "string",
		`{"experiment":1}`:                            "must be a string",
	} {
		if got := post(body); got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
		}
	}
	if got := n.do("DELETE", "/api/v1/lab/runs/"+labRun, "", n.bearer()); got.StatusCode != http.StatusNoContent {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	if got := n.do("DELETE", "/api/v1/lab/runs/none", "", n.bearer()); got.StatusCode != http.StatusNotFound {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
