package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/lab/modbusfarm"
	"voltbus/operation/configuration/report"
	"voltbus/operation/devices"
	"voltbus/testing/peers"
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
	var trial report.Trial
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
		d, err := client.Do(t.Context(), r.Client, devices.List, struct{}{})
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

func TestAListIsTriedAndAddedAsText(t *testing.T) {
	dir := t.TempDir()
	peer := peers.Modbus(t)
	r := run(t, load(t, dir, listenAnywhere+"devices: # none yet\n"))
	const heading = "Volttron Point Name,Modbus Register,Point Address,Writable,Device Class\n"
	for name, tt := range map[string]struct {
		list  string
		notes []string
	}{
		"a registry of VOLTTRON": {heading + "supply,float,0,FALSE,x\n,uint16,5,FALSE,x\nunit,uint16,30,FALSE,x\n", []string{
			"1 row without a Volttron Point Name left out: 3",
			`column "Device Class" means nothing to this driver and is left out`,
		}},
		"a CSV":       {"name,table,address,type\nsupply,input,0,float32\n# said\nunit,holding,30,uint16\n", []string{}},
		"a YAML list": {"# of the maker\n- {name: supply, table: input, address: 0, type: float32}\n- name: unit\n  address: 30\n  type: uint16\n", []string{}},
	} {
		section := m{"address": peer.Addr, "registry": tt.list}
		var trial report.Trial
		if p := r.call(r.token(), "POST", "/drivers/modbus/try", m{"config": section}, &trial); p.Kind != "" {
			t.Fatalf("%s: the trial gives %+v", name, p)
		}
		if trial.Total != 2 || len(trial.Points) != 2 || string(trial.Points[0].Value) != "21.5" || string(trial.Points[1].Value) != "1" {
			t.Errorf("%s: the trial is %+v", name, trial)
		}
		if diff := cmp.Diff(tt.notes, trial.Notes); diff != "" {
			t.Errorf("%s: the notes differ (-want +got):\n%s", name, diff)
		}
		var applied answer.ConfigApplied
		body := m{"path": "site/" + strings.ReplaceAll(name, " ", "-"), "driver": "modbus", "config": section}
		if p := r.call(r.token(), "POST", "/devices", body, &applied); p.Kind != "" || len(applied.Changes.Added) != 1 {
			t.Fatalf("%s: adding gives %+v, %+v", name, p, applied)
		}
	}
	if _, err := config.Load(filepath.Join(dir, "voltbus.yaml"), all.Kinds()); err != nil {
		t.Errorf("the configuration with the lists: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "voltbus.yaml"))
	if err != nil || !strings.Contains(string(text), "registry: |\n") {
		t.Errorf("the file is %v\n%s", err, text)
	}
}

func TestTheProblemsOfAListNameItsRows(t *testing.T) {
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	for name, tt := range map[string]struct {
		list string
		want []string
	}{
		"a CSV": {"name,address,typ,tabel\na,1,int16,x\n", []string{
			`row 1: column "tabel" is not known`, `row 1: column "typ" is not known`, "row 2: (a) is missing",
		}},
		"rows of a CSV": {"name,address,type\na,x,int16\n\nb,1,int15\nb,1,int16\n", []string{"row 2: (a)", "row 4: (b)", "row 5: (b) stands there twice, first as row 4"}},
		"a YAML list":   {"- name: a\n  address: 1\n  type: int16\n- name: b\n  address: 1\n  type: no\n", []string{"row 4: (b)"}},
		"a heading":     {"name,address,type\n", []string{"is empty"}},
		"no name":       {"Volttron Point Name,Modbus Register,Point Address\n,int16,1\n", []string{"is empty"}},
	} {
		section := m{"address": "127.0.0.1:1", "registry": tt.list}
		p := r.call(r.token(), "POST", "/drivers/modbus/try", m{"config": section}, nil)
		if p.Kind != "invalid" || len(p.Problems) != len(tt.want) {
			t.Errorf("%s: %+v, want %q", name, p, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(p.Problems[i].Detail, want) {
				t.Errorf("%s: problem %d is %q, want %q", name, i, p.Problems[i].Detail, want)
			}
		}
	}
}

func TestATrialSaysWhatIsWrong(t *testing.T) {
	const nobody = "127.0.0.1:1" // a port that nobody is given by chance
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	registry := []m{{"name": "x", "table": "holding", "address": 0, "type": "uint16"}}
	var trial report.Trial
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
