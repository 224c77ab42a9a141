package service_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	controldispatch "voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/service"
	"voltbus/testing/peers"
	"voltbus/wire"
)

// asyncapi is what the tests read of the document of the bus.
type asyncapi struct {
	Channels map[string]struct {
		Address string `yaml:"address"`
	} `yaml:"channels"`
	Operations map[string]struct {
		Channel struct {
			Ref string `yaml:"$ref"`
		} `yaml:"channel"`
	} `yaml:"operations"`
	Components struct {
		Schemas map[string]struct {
			Properties map[string]any `yaml:"properties"`
		} `yaml:"schemas"`
	} `yaml:"components"`

	tree any
}

func readAsyncAPI(t *testing.T) *asyncapi {
	t.Helper()
	text, err := os.ReadFile("../docs/formats/asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var d asyncapi
	var raw any
	if err := yaml.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	if d.tree, err = jsonschema.UnmarshalJSON(bytes.NewReader(j)); err != nil {
		t.Fatal(err)
	}
	return &d
}

// schema compiles a part of the document, which is named by its JSON pointer.
func (d *asyncapi) schema(t *testing.T, pointer string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.AssertFormat()
	if err := c.AddResource("asyncapi.json", d.tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("asyncapi.json#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits reports a body that the schema does not allow.
func fits(t *testing.T, s *jsonschema.Schema, body []byte) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		t.Errorf("%s does not fit: %v", body, err)
	}
}

func TestTheDocumentOfTheBusIsAsyncAPI(t *testing.T) {
	meta, err := jsonschema.UnmarshalJSON(bytes.NewReader(peers.AsyncAPI(t)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("meta.json", meta); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("meta.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(readAsyncAPI(t).tree); err != nil {
		t.Error(err)
	}
}

func TestTheSubjectsOfTheDocumentAreTheNodes(t *testing.T) {
	fill := strings.NewReplacer("{self}", "own%2Ename", "{device}", "a.b", "{point}", "a.b", "{from}", "own%2Ename", "{topic}", "a.b",
		"{key}", "a.b", "{kind}", "stop", "{callee}", "boiler", "{caller}", "boiler", "{method}", "do", "{call}", "x", "{path}", "a.b")
	want := map[string]string{
		"scan": wire.Subject(wire.ScanPrefix, "a/b"), "point": wire.Subject(wire.PointPrefix, "a/b"),
		"breadthScan": wire.BreadthScanPrefix + "a.b", "breadthPoint": wire.BreadthPointPrefix + "a.b",
		"message": wire.MessageSubject("own.name", "a/b"), "health": wire.MessageSubject("own.name", wire.HealthTopic),
		"control": wire.MessageSubject(wire.NodeName, controldispatch.Prefix.Join("a/b")),
		"alert":   wire.MessageSubject("own.name", point.Path(wire.AlertTopic).Join("a/b")), "news": wire.NewsSubject("own.name", wire.NewsStop),
		"call": wire.CallSubject("boiler", "own.name", "do"), "called": wire.CallSubject("own.name", "boiler", "do"),
		"node": wire.CallSubject(wire.NodeName, "own.name", "do"), "inbox": wire.InboxPrefix + wire.Token("own.name") + ".x", "answer": "",
	}
	got := map[string]string{}
	for name, c := range readAsyncAPI(t).Channels {
		got[name] = fill.Replace(c.Address)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subjects (-node +document):\n%s", diff)
	}
}

func TestTheMethodsOfTheDocumentAreTheNodes(t *testing.T) {
	d := readAsyncAPI(t)
	result, failure := open(t, grants()).ask("boiler", "inspect", "")
	var methods []wire.Method
	if failure != nil || json.Unmarshal([]byte(result), &methods) != nil {
		t.Fatalf("inspect gives %s, %v", result, failure)
	}
	want, got := map[string][]string{}, map[string][]string{}
	for _, m := range methods {
		names := []string{}
		for _, p := range m.Params {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		want[m.Name] = names
	}
	for name, op := range d.Operations {
		if op.Channel.Ref == "#/channels/node" {
			got[name] = append([]string{}, slices.Sorted(maps.Keys(d.Components.Schemas[name+"_args"].Properties))...)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("methods and arguments (-node +document):\n%s", diff)
	}
}

func TestTheAnswersOfTheNodeFitTheDocument(t *testing.T) {
	d, desk := readAsyncAPI(t), open(t, grants())
	desk.add("caller", identity.Grants{Call: []identity.CallGrant{{Agent: "boiler", Where: identity.Constraints{"x": {Min: new(1.0)}}}}, Hold: []identity.CapabilityGrant{{Name: "tune"}}})
	for _, ask := range []struct{ method, kwargs string }{
		{"hello", `{"sdk":"x","pid":1,"host":"h","version":"2"}`},
		{"standing", ``},
		{"record", `{"samples":[{"point":"calc/sum","time":"2026-03-01T11:00:00Z","value":2.5,"quality":"good"}],"key":"k"}`},
		{"points", `{"pattern":"site","limit":1}`},
		{"latest", `{"pattern":"**"}`},
		{"range", `{"points":["site/ahu/temp"],"from":"now-1h","to":"now","limit":5,"newest":true}`},
		{"aggregate", `{"pattern":"site","from":"now-1h","step":"15m","functions":["p95"],"zone":"Europe/Berlin"}`},
		{"peers", ``},
		{"ping", ``},
		{"inspect", ``},
		{"config_set", `{"name":"limits","text":"{\"a\":1}","type":"json","note":"n"}`},
		{"config_get", `{"name":"limits"}`},
		{"config_list", `{}`},
		{"config_history", `{"name":"limits"}`},
		{"config_delete", `{"name":"limits","note":"n"}`},
		{"refused", `{"method":"m","from":"f","missing":"call boiler:m","args":[1]}`},
	} {
		t.Run(ask.method, func(t *testing.T) {
			body := ""
			if ask.kwargs != "" {
				body = `{"kwargs":` + ask.kwargs + `}`
				fits(t, d.schema(t, "/components/messages/"+ask.method+"/payload"), []byte(body))
			}
			answer := desk.Answer(t.Context(), service.Call{From: "boiler", Method: ask.method, Body: []byte(body)})
			if bytes.HasPrefix(answer, []byte(`{"error"`)) {
				t.Fatalf("gives %s", answer)
			}
			fits(t, d.schema(t, "/components/messages/"+ask.method+"_answer/payload"), answer)
		})
	}
	failures := d.schema(t, "/components/schemas/error")
	for _, method := range []string{"record", "boil", "range"} {
		fits(t, failures, desk.Answer(t.Context(), service.Call{From: "boiler", Method: method, Body: []byte(`{"kwargs":{"samples":[{"point":"x/y","value":1}]}}`)}))
	}
}

func TestTheKindsAndMessagesOfTheDocumentAreTheNodes(t *testing.T) {
	d := readAsyncAPI(t)
	failure := d.schema(t, "/components/schemas/error")
	for kind := fault.Internal; ; kind++ {
		if back, known := fault.ParseKind(kind.String()); !known || back != kind {
			break
		}
		body, err := json.Marshal(wire.Reply{Error: &wire.Failure{Kind: kind.String(), Message: "m", Problems: []wire.Problem{{Index: 1, Message: "p"}}}})
		if err != nil {
			t.Fatal(err)
		}
		fits(t, failure, body)
	}
	fits(t, failure, []byte(`{"error":{"kind":"remote","message":"m","type":"ValueError","args":[1],"trace":"t"}}`))
	scan := &point.Scan{Device: "site/ahu", Time: noon(), Samples: []point.Sample{
		{Point: "site/ahu/temp", Time: noon(), Value: point.FloatOf(math.NaN())},
		{Point: "site/ahu/fan", Time: noon().Add(-1), Value: point.BoolOf(true), Quality: point.BadTimeout},
	}}
	fits(t, d.schema(t, "/components/schemas/scan"), wire.AppendScan(nil, scan))
	fits(t, d.schema(t, "/components/schemas/point"), wire.AppendSample(nil, &scan.Samples[0]))
}

// What the document allows an agent to say of itself the node takes, and nothing else.
func TestHealthAndAlertsAreTakenAsTheDocumentSays(t *testing.T) {
	d := readAsyncAPI(t)
	room, err := presence.Open(t.Context(), open(t, grants()).catalog, noon)
	if err != nil {
		t.Fatal(err)
	}
	health, alert := d.schema(t, "/components/schemas/health"), d.schema(t, "/components/schemas/alert")
	tests := []struct {
		body   string
		schema *jsonschema.Schema
		good   bool
	}{
		{`{"status":"good","context":"warm","interval":60}`, health, true},
		{`{"status":"bad"}`, health, true},
		{`{"status":"starting","context":{"a":[1]}}`, health, true},
		{`{"status":"unknown"}`, health, true},
		{`{"status":"silent"}`, health, false},
		{`{"status":"good","interval":-1}`, health, false},
		{`{"status":"good","interval":86401}`, health, false},
		{`{"text":"hot"}`, alert, true},
		{`{"text":"hot","severity":"critical","since":"2026-01-31T12:00:00Z"}`, alert, true},
		{`{"cleared":true}`, alert, true},
		{`{"text":"hot","severity":"fatal"}`, alert, false},
		{`{"text":7}`, alert, false},
	}
	for _, tt := range tests {
		err := room.Alert("boiler", "k", []byte(tt.body))
		if tt.schema == health {
			err = room.Health("boiler", []byte(tt.body))
		}
		v, verr := jsonschema.UnmarshalJSON(strings.NewReader(tt.body))
		if verr == nil {
			verr = tt.schema.Validate(v)
		}
		if (err == nil) != tt.good || (verr == nil) != tt.good {
			t.Errorf("%s: the node says %v, the document %v", tt.body, err, verr)
		}
	}
}
