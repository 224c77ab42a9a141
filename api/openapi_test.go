package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"voltbus/api"
	"voltbus/testing/peers"
)

// document is what the test reads of openapi.yaml.
type document struct {
	Paths      map[string]map[string]described `yaml:"paths"`
	Components struct {
		Parameters map[string]parameter `yaml:"parameters"`
	} `yaml:"components"`
}

type described struct {
	OperationID string         `yaml:"operationId"`
	Summary     string         `yaml:"summary"`
	Parameters  []parameter    `yaml:"parameters"`
	Responses   map[string]any `yaml:"responses"`
}

type parameter struct {
	Ref  string `yaml:"$ref"`
	Name string `yaml:"name"`
	In   string `yaml:"in"`
}

func readDocument(t testing.TB) (document, any) {
	t.Helper()
	b, err := os.ReadFile("openapi.yaml")
	must(t, err)
	var d document
	must(t, yaml.Unmarshal(b, &d))
	var raw any
	must(t, yaml.Unmarshal(b, &raw))
	j, err := json.Marshal(raw)
	must(t, err)
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	must(t, err)
	return d, tree
}

func TestTheDocumentAndTheRoutesAgree(t *testing.T) {
	d, _ := readDocument(t)
	documented := map[string][]string{}
	ids := map[string]bool{}
	for path, operations := range d.Paths {
		for method, op := range operations {
			names := []string{}
			for _, p := range op.Parameters {
				if ref, ok := strings.CutPrefix(p.Ref, "#/components/parameters/"); ok {
					p = d.Components.Parameters[ref]
				}
				if p.In != "header" {
					names = append(names, p.Name)
				}
			}
			slices.Sort(names)
			documented[strings.ToUpper(method)+" "+path] = names
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s needs an operationId of its own", method, path)
			}
			ids[op.OperationID] = true
		}
	}
	if diff := cmp.Diff(documented, api.Parameters()); diff != "" {
		t.Error("documented against served:", diff)
	}
}

// Who may ask for what is judged from declarations alone.
func TestEveryRouteIsDeclared(t *testing.T) {
	if list := api.Undeclared(); len(list) > 0 {
		t.Error("no declaration says who may ask for", list)
	}
}

// schemas compiles the schemas of the document by name.
func schemas(t testing.TB) func(name string) *jsonschema.Schema {
	t.Helper()
	_, tree := readDocument(t)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	must(t, c.AddResource("openapi.json", tree))
	return func(name string) *jsonschema.Schema {
		s, err := c.Compile("openapi.json#/components/schemas/" + name)
		must(t, err)
		return s
	}
}

func TestAnswersFitTheDocument(t *testing.T) {
	n := start(t)
	tests := []struct{ path, schema string }{
		{"/api/v1/session", "Session"},
		{"/api/v1/version", "Version"},
		{"/api/v1/health", "Health"},
		{"/api/v1/points", "Points"},
		{"/api/v1/latest", "Latest"},
		{"/api/v1/devices", "Devices"},
		{"/api/v1/ledger", "Ledger"},
		{"/api/v1/people", "People"},
		{"/api/v1/setup", "Setup"},
		{"/api/v1/nothing", "Problem"},
		{"/api/v1/range?x=1", "Problem"},
		{"/api/v1/range?pattern=**&from=now-2h", "Range"},
		{"/api/v1/range?pattern=**&from=now-2h&limit=3", "Range"},
		{"/api/v1/plot?pattern=**&from=now-2h", "Plot"},
		{"/api/v1/plot?pattern=**&from=now-2h&pixels=10", "Plot"},
		{"/api/v1/plot?pattern=**&from=now-2h&format=columns", "Plot"},
		{"/api/v1/plot?pattern=**&from=now-2h&format=pairs", "Problem"},
		{"/api/v1/aggregate?pattern=**&from=now-2h&step=20m", "Aggregate"},
		{"/api/v1/aggregate?pattern=**&from=now-2h&step=1d&zone=Asia/Kathmandu&functions=mean,p95,timeweighted,stddev,median,count", "Aggregate"},
		{"/api/v1/aggregate?pattern=**&from=now-2h&page=2", "Aggregate"},
		{"/api/v1/aggregate?pattern=**&step=1mo&zone=Mars/Olympus", "Problem"},
		{"/api/v1/completeness?from=now-2h&steps=8", "CompletenessMap"},
		{"/api/v1/completeness?pattern=site&depth=1&limit=1", "CompletenessMap"},
		{"/api/v1/completeness?pattern=no", "Problem"},
		{"/api/v1/aggregate?point=no/such&from=now-2h&step=20m", "Problem"},
	}
	schema := schemas(t)
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got := n.get(tt.path)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(got.body))
			must(t, err)
			if err := schema(tt.schema).Validate(value); err != nil {
				t.Errorf("%v\n%.500s", err, got.body)
			}
		})
	}
	t.Run("and the schemas refuse what does not fit", func(t *testing.T) {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(`{"series":[{"point":1}],"completeness":2}`))
		must(t, err)
		if schema("Range").Validate(value) == nil {
			t.Error("nonsense is valid")
		}
	})
}

func TestTheDocumentIsServed(t *testing.T) {
	b, err := os.ReadFile("openapi.yaml")
	must(t, err)
	if got := start(t).get("/api/v1/openapi.yaml"); got.body != string(b) || got.Header.Get("Content-Type") != "application/yaml" {
		t.Errorf("got %d %s", got.StatusCode, got.Header.Get("Content-Type"))
	}
}

// Generated clients name their methods by operationId and show the rest.
func TestTheDocumentIsValidOpenAPI(t *testing.T) { peers.CheckOpenAPI(t, "openapi.yaml") }

func TestEveryOperationSaysWhatItDoesAndAnswers(t *testing.T) {
	d, _ := readDocument(t)
	for path, operations := range d.Paths {
		for method, op := range operations {
			if op.OperationID == "" || op.Summary == "" || len(op.Responses) == 0 {
				t.Errorf("%s %s needs an operationId, a summary and responses", method, path)
			}
		}
	}
}

// A comma that is not quoted turns the rest of a description into keys without values.
func TestTheDocumentHasNoStrayKeys(t *testing.T) {
	_, tree := readDocument(t)
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case nil:
			t.Errorf("%s has no value", at)
		case map[string]any:
			for k, child := range v {
				walk(at+"/"+k, child)
			}
		case []any:
			for _, child := range v {
				walk(at, child)
			}
		}
	}
	walk("", tree)
}
