package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/lab/modbusfarm"
)

func TestDriversAreListedWithTheirKeys(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	var list answer.Drivers
	r.call(r.token(), "GET", "/drivers", nil, &list)
	found := 0
	for _, d := range list.Drivers {
		if d.Doc == "" || !strings.Contains(string(d.Schema), `"properties"`) || !strings.Contains(string(d.Schema), `"description"`) {
			t.Errorf("driver %s: %q, schema %.200s", d.Kind, d.Doc, d.Schema)
		}
		if d.Kind == "sim" || d.Kind == "modbus" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d of sim and modbus are listed", found)
	}
}

func TestADeviceIsTriedAndThenAdded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boiler.csv"), modbusfarm.Registry, 0o600); err != nil {
		t.Fatal(err)
	}
	address, stop := boiler(t, "127.0.0.1:0")
	defer stop()
	r := run(t, load(t, dir, listenAnywhere+"# what we have\ndevices: # none yet\n"))
	section := m{"address": address, "registry": "boiler.csv"}
	var trial answer.Trial
	if p := r.call(r.token(), "POST", "/drivers/modbus/try", m{"config": section}, &trial); p.Kind != "" {
		t.Fatalf("the trial gives %+v", p)
	}
	if trial.Kind != "" || trial.Total == 0 || len(trial.Points) != trial.Total || trial.Points[0].Quality != "good" || string(trial.Points[0].Value) == "null" {
		t.Errorf("the trial is %+v", trial)
	}
	var applied answer.ConfigApplied
	body := m{"path": "site/boiler", "driver": "modbus", "interval": "100ms", "config": section}
	if p := r.call(r.token(), "POST", "/devices", body, &applied); p.Kind != "" || len(applied.Changes.Added) != 1 {
		t.Fatalf("adding gives %+v, %+v", p, applied)
	}
	eventually(t, "the device that was added is read", func() bool {
		d, err := r.Client.Devices(t.Context())
		return err == nil && len(d.Devices) == 1 && d.Devices[0].State == "online"
	})
	text, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml"))
	if err != nil || !strings.Contains(string(text), "# what we have\ndevices: # none yet\n  site/boiler:\n") {
		t.Errorf("the file is %v\n%s", err, text)
	}
	if p := r.call(r.token(), "POST", "/devices", body, nil); p.Kind != "conflict" || !strings.Contains(p.Detail, "choose another") {
		t.Errorf("adding it twice gives %+v", p)
	}
}

func TestATrialSaysWhatIsWrong(t *testing.T) {
	const nobody = "127.0.0.1:1" // a port that nobody is given by chance
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	registry := []m{{"name": "x", "table": "holding", "address": 0, "type": "uint16"}}
	var trial answer.Trial
	r.call(r.token(), "POST", "/drivers/modbus/try", m{"config": m{"address": nobody, "registry": registry}}, &trial)
	if trial.Kind != "unreachable" || trial.Detail == "" || len(trial.Points) != 0 {
		t.Errorf("nobody there gives %+v", trial)
	}
	for name, tt := range map[string]struct {
		kind   string
		body   any
		fault  string
		detail string
	}{
		"an unknown driver":   {"fax", m{}, "not-found", "/api/v1/drivers"},
		"a wrong section":     {"modbus", m{"config": m{"adress": "x"}}, "invalid", "config.address: is missing"},
		"a section of texts":  {"modbus", m{"config": "x"}, "invalid", "must be a JSON object"},
		"a field of nobody's": {"sim", m{"cfg": m{}}, "invalid", "unknown field"},
	} {
		if p := r.call(r.token(), "POST", "/drivers/"+tt.kind+"/try", tt.body, nil); p.Kind != tt.fault || !strings.Contains(p.Detail, tt.detail) {
			t.Errorf("%s: %+v, want %s with %q", name, p, tt.fault, tt.detail)
		}
	}
}
