package bacnet_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/gateway/bacnet"
)

const patterns = `
local: 10.66.0.2/24
device: 77
points:
  - {point: site/ahu/flow, instance: 3}
patterns:
  - {pattern: site/ahu, trend_logs: true}
`

// objects returns which objects the points of a node are, with the instances of a file.
func objects(t *testing.T, n *node, text, file string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, o := range gateway(t, parsed(t, text), n, file).Objects() {
		all[string(o.Point)] = o.ID.String()
		if o.TrendLog != nil {
			all[string(o.Point)+" log"] = o.TrendLog.String()
		}
	}
	return all
}

func TestAPointKeepsItsObjectAndNobodyGetsThatOfOneWhichIsGone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "instances.csv")
	n := &node{}
	expect := func(got map[string]string, want map[string]string) {
		t.Helper()
		for path, object := range want {
			if got[path] != object {
				t.Errorf("%s is %q, want %q", path, got[path], object)
			}
		}
	}
	expect(objects(t, n, patterns, file), map[string]string{
		"site/ahu/flow": "analog-input:3", "site/ahu/supply_temp": "analog-input:4", "site/ahu/setpoint": "analog-input:5", "site/ahu/mode": "analog-input:6",
		"site/ahu/fan": "binary-input:1", "site/ahu/note": "characterstring-value:1", "site/ahu/supply_temp log": "trend-log:1", "site/ahu/note log": "",
	})
	n.gone, n.more = "site/ahu/fan", []answer.Point{{Path: "site/ahu/damper", Kind: "bool"}}
	got := objects(t, n, patterns, file)
	expect(got, map[string]string{"site/ahu/damper": "binary-input:2", "site/ahu/setpoint": "analog-input:5", "site/ahu/fan": ""})
	n.gone = ""
	expect(objects(t, n, patterns, file), map[string]string{"site/ahu/damper": "binary-input:2", "site/ahu/fan": "binary-input:1"})
	b, err := os.ReadFile(file) //nolint:gosec // of this test
	if err != nil || !strings.HasPrefix(string(b), "type,instance,point\nanalog-input,3,site/ahu/flow\n") {
		t.Errorf("the file holds %s (%v)", b, err)
	}
}

func TestInstancesThatAreTakenOrCannotBeReadAreNamed(t *testing.T) {
	folder := t.TempDir()
	for text, want := range map[string]string{
		"type,instance,point\nanalog-input,3,site/old\n": "analog-input:3 is or was that of site/old; write another instance, or delete its line",
		"a,b,c\n":                         "restore the file, or delete it",
		"type,instance,point\nlamp,x,y\n": `line 2: "lamp" "x" is no object; write such as analog-input,3`,
		"type,instance,point\n\"":         "quote",
	} {
		file := filepath.Join(folder, "instances.csv")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		instances, err := bacnet.OpenInstances(file)
		if err == nil {
			_, err = bacnet.New(t.Context(), bacnet.Config{Mapping: parsed(t, patterns), Node: &node{}, Instances: instances, Log: slog.New(slog.DiscardHandler)})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestMistakesInAMappingAreNamedWithTheirPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"device: 7": `points: is empty, and patterns too`,
		"device: 4194303\npatterns: [{pattern: a}]":                         "device: is missing or out of range",
		"device: 7\nallow: [home]\npatterns: [{pattern: a}]":                `allow[0]: "home" is no address`,
		"device: 7\npatterns: [{increment: -1}]":                            "patterns[0].pattern: is missing",
		"device: 7\npoints: [{point: a}, {point: a}]":                       `points[1].name: "a" is the name of another object already`,
		"device: 7\npoints: [{point: a, instance: -1}]":                     "points[0].instance: -1 is out of range",
		"device: 7\npoints: [{point: a, unit: furlong}]":                    `points[0].unit: "furlong" is no unit`,
		"device: 7\npoints: [{point: a, type: multi-state-input}]":          "points[0].states: is missing",
		"device: 7\npoints: [{point: a, min: 3, max: 2}]":                   "points[0].min: is above max",
		"device: 7\npoints: [{point: a}]\nwriters: [{token_file: x}]":       "writers[0].from: is empty",
		"device: 7\npoints: [{point: a}]\nwriters: [{from: [1.2.3.4]}]":     "writers[0].token_file: is missing",
		"device: 7\nforeign_devices: 1001\npatterns: [{pattern: a}]":        "foreign_devices: 1001 is out of range",
		"device: 7\nbbmd_peers: [10.1.0.2]\npatterns: [{pattern: a}]":       "local: is missing; a BBMD needs",
		"device: 7\nforeign_devices: 1\nbbmd: 10.1.0.2\nlocal: 10.0.0.5/24": "bbmd: is another BBMD",
		"device: 7\npoints: [{point: a}]\ntrend: {interval: 1500ms}":        "trend.interval: 1.5s is out of range",
	} {
		var all []string
		_, problems := bacnet.ParseMapping("map.yaml", []byte(text))
		for _, p := range problems {
			all = append(all, p.String())
		}
		if !strings.Contains(strings.Join(all, "\n"), want) {
			t.Errorf("%q: %q, want %q", text, all, want)
		}
	}
}
