package configuration_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/configuration/report"
	"voltbus/testing/peers"
)

// settings are the operations of a node that runs by a configuration and has no devices open.
type settings struct {
	t       *testing.T
	file    string
	running atomic.Pointer[config.Config]
	table   *operation.Table
}

func newSettings(t *testing.T, text string) *settings {
	t.Helper()
	dir := t.TempDir()
	s := &settings{t: t, file: filepath.Join(dir, "voltbus.yaml")}
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	kinds := []driver.Kind{bacnet.Kind()}
	cfg, err := config.LoadFrom(config.Place{File: s.file, Kinds: kinds}, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s.running.Store(cfg)
	part := configuration.New(configuration.Options{
		File: s.file, Data: filepath.Join(dir, "data"), Kinds: kinds, Running: s.running.Load, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Apply: func(_ context.Context, cfg *config.Config) (config.Changes, error) {
			return config.Compare(s.running.Swap(cfg), cfg), nil
		},
		Allowed: func(*config.Uplink) (identity.Grants, error) { return identity.Grants{}, nil },
		Tell:    func(context.Context, string, error, any) {},
	})
	s.table = operation.NewTable(func(context.Context, operation.Entry) {}, part.Operations())
	return s
}

type m = map[string]any

// ask carries out an operation, and decodes its answer.
func (s *settings) ask(name string, args m, into any) error {
	s.t.Helper()
	given := operation.Arguments{}
	for key, value := range args {
		text, err := json.Marshal(value)
		if err != nil {
			s.t.Fatal(err)
		}
		given[key] = text
	}
	text, err := s.table.Run(s.t.Context(), &operation.Caller{Name: "person:ann", Role: identity.Engineer}, name, given)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return err
}

// common is how the devices of the tests are reached.
func common() m { return m{"local": "10.66.0.2/24", "timeout": "3s", "retries": 0} }

func TestTheDevicesOfASubnetAreAddedInOneChangeAndASecondSearchTellsTheDifference(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24", "10.66.0.12/24", "10.66.0.13/24") {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "11", "480", "20", "10.66.0.12/24", "10.66.0.13/24")
	s := newSettings(t, "# mine\nnode: {name: a}\ndevices:\n  - path: old/gone\n    driver: bacnet\n    interval: 1h\n    config: {local: 10.66.0.2/24, device: 99, registry: [{name: a, object: \"analog-input:1\"}]}\n")
	var found report.Search
	if err := s.ask("device.search", m{"kind": "bacnet", "config": common()}, &found); err != nil || len(found.Devices) != 3 || !slices.Equal(found.Gone, []string{"old/gone"}) {
		t.Fatalf("the search gives %+v, %v", found, err)
	}
	if f := found.Devices[2].Facts; f["instance"] != "13" || f["address"] != "10.66.0.13" || f["vendor"] != "BACpypes" || f["objects"] == "" || found.Devices[2].Device != "" {
		t.Errorf("the table says %+v", found.Devices[2])
	}
	var asked, more []m
	for _, n := range found.Devices {
		asked = append(asked, m{"config": n.Config})
	}
	asked = append(asked, m{"config": m{"device": 77}})
	var has report.Survey
	if err := s.ask("device.survey", m{"kind": "bacnet", "config": common(), "devices": asked}, &has); err != nil || len(has.Devices) != 4 {
		t.Fatalf("the survey gives %+v, %v", has, err)
	}
	for i, d := range has.Devices[:3] {
		if d.Kind != "" || d.Points != 26 || d.Guesses < 20 || !strings.HasPrefix(d.Registry, "name,") || !strings.Contains(d.Registry, "tag:haystack_guess\n") {
			t.Fatalf("device %d is %+v", i, d)
		}
		more = append(more, m{"path": "site/" + found.Devices[i].Name, "config": m{"device": 11 + i, "registry": d.Registry}})
	}
	if silent := has.Devices[3]; silent.Kind != "timeout" || silent.Detail == "" || silent.Registry != "" {
		t.Errorf("a device that does not answer is %+v", silent)
	}
	var applied answer.ConfigApplied
	add := m{"kind": "bacnet", "interval": "1m", "config": common(), "devices": more[:2]}
	if err := s.ask("device.add_several", add, &applied); err != nil || len(applied.Changes.Added) != 2 {
		t.Fatalf("adding gives %+v, %v", applied, err)
	}
	text, err := os.ReadFile(s.file)
	if err != nil || !strings.HasPrefix(string(text), "# mine\n") || strings.Count(string(text), "  - path: ") != 3 || !strings.Contains(string(text), "temp sensor") {
		t.Errorf("the file is %s, %v", text, err)
	}
	if tags := s.running.Load().Devices[2].Config.Points()[0].Tags; tags["haystack_guess"] != "temp sensor" {
		t.Errorf("the tags are %v", tags)
	}
	if err := s.ask("device.add_several", add, nil); err == nil || !strings.Contains(err.Error(), "site/device_11") {
		t.Errorf("adding them again gives %v", err)
	}
	found = report.Search{}
	if err := s.ask("device.search", m{"kind": "bacnet", "config": common()}, &found); err != nil || found.Devices[0].Device != "site/device_11" || found.Devices[1].Device != "site/device_12" || found.Devices[2].Device != "" {
		t.Errorf("the second search gives %+v, %v", found, err)
	}
}

func TestAConfiguredDeviceIsComparedWithWhatItHasNow(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.11/24") {
		return
	}
	peers.BACnet(t, "device", "10.66.0.11/24", "11", "480", "2")
	s := newSettings(t, "node: {name: a}\ndevices:\n  site/b:\n    driver: bacnet\n    interval: 1h\n    config: {local: 10.66.0.2/24, device: 11, registry: [{name: mine, object: \"analog-input:1\"}, {name: lost, object: \"analog-input:9\"}]}\n")
	var has report.Survey
	err := s.ask("device.survey", m{"kind": "bacnet", "config": common(), "devices": []m{{"config": m{"device": 11}, "device": "site/b"}}}, &has)
	if err != nil || len(has.Devices) != 1 || !slices.Equal(has.Devices[0].Added, []string{"input_2", "setpoint_°C"}) || !slices.Equal(has.Devices[0].Gone, []string{"lost"}) {
		t.Errorf("the difference is %+v, %v", has, err)
	}
}

func TestSeveralDevicesAreAddedAllOrNone(t *testing.T) {
	s := newSettings(t, "node: {name: a}\n")
	list := "name,object\na,analog-input:1\n"
	one := func(path, registry string) m {
		return m{"path": path, "config": m{"device": 1, "registry": registry}}
	}
	for words, devices := range map[string][]m{
		"stands there twice": {one("a/b", list), one("a/b", list)},
		"a/c: ":              {one("a/b", list), one("a/c", "name,object\na,nothing:1\n")},
		"8000000":            {one("a/b", list), one("a/c", list+"# "+strings.Repeat("x", 8_000_000))},
	} {
		err := s.ask("device.add_several", m{"kind": "bacnet", "interval": "1m", "devices": devices}, nil)
		if err == nil || !strings.Contains(err.Error(), words) || len(s.running.Load().Devices) > 0 {
			t.Errorf("%s: the answer is %v", words, err)
		}
	}
}
