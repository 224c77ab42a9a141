package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func TestTheReferenceIsUpToDate(t *testing.T) {
	t.Chdir("../..")
	files, err := generate(kinds())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date: run \"make generate\" (-want +got):\n%s", name, diff)
		}
	}
}

func TestEveryKeyHasAMeaning(t *testing.T) {
	t.Chdir("../..")
	c, err := readComments(kinds())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(pageOf(kinds(), c)), "\n") {
		if strings.HasPrefix(line, "| `") && strings.HasSuffix(line, "|  |") {
			t.Errorf("no comment says what this key means: %s", line)
		}
	}
}

func TestTheSchemaTellsGoodFromBad(t *testing.T) {
	t.Chdir("../..")
	files, err := generate(kinds())
	if err != nil {
		t.Fatal(err)
	}
	schema := compile(t, files[schemaFile])
	template, err := os.ReadFile("config/template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text string
		good bool
	}{
		"the template":              {string(template), true},
		"an empty mapping":          {"{}", true},
		"devices in a list":         {"devices: [{path: a, interval: 1h30m}]", true},
		"devices below keys":        {"devices: {a: {tags: {floor: 1}, publish: [point]}}", true},
		"a size without a unit":     {"log: {max_bytes: 5}", false},
		"a size of nothing":         {"log: {min_free: 0}", true},
		"an unknown section":        {"recoder: {}", false},
		"an unknown key":            {"log: {size: 1GiB}", false},
		"an unknown engine":         {"store: {engine: oracle}", false},
		"a number for an interval":  {"devices: {a: {interval: 10}}", false},
		"an interval without unit":  {`devices: {a: {interval: "10"}}`, false},
		"an unknown key of devices": {"devices: {a: {intervall: 10s}}", false},
		"an unknown form":           {"devices: {a: {publish: [all]}}", false},
		"a repeated unit":           {`devices: {"a{n}": {driver: modbus, count: 2, config: {unit: "{n}"}}}`, true},
		"a unit in words":           {"devices: {a: {driver: modbus, config: {unit: one}}}", false},
		"a driver's unknown key":    {"devices: {a: {driver: modbus, config: {adress: x}}}", false},
		"an unknown driver":         {"devices: {a: {driver: fax}}", false},
		"a device without a driver": {"devices: {a: {config: {adress: x}}}", true},
		"a count in words":          {"devices: {a: {count: many}}", false},
		"an address without a port": {"listen: {http: localhost}", false},
		"nothing listening":         {"listen: {http: off}", true},
		"devices that are a number": {"devices: 5", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var value any
			if err := yaml.Unmarshal([]byte(tt.text), &value); err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(asJSON(t, value)); (err == nil) != tt.good {
				t.Errorf("the schema says %v, want good %v", err, tt.good)
			}
		})
	}
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON returns the value as JSON would give it.
func asJSON(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
