package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/driver"
	"voltbus/driver/modbus"
)

func TestTheTemplateSaysTheDefaults(t *testing.T) {
	got := loadText(t, string(Template()))
	want := Default()
	want.Node = got.Node
	want.Include, want.Devices = []string{}, []Device{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("the template differs from the defaults (-default +template):\n" + diff)
	}
	if filepath.Base(got.Node.Data) != Default().Node.Data {
		t.Errorf("data is %q, want it in %q", got.Node.Data, Default().Node.Data)
	}
}

func TestTheDevicesOfTheTemplateCanBeUsed(t *testing.T) {
	head, devices, found := strings.Cut(string(Template()), "\ndevices:\n")
	if !found {
		t.Fatal("the template has no devices")
	}
	devices = strings.ReplaceAll(devices, "\n  # # ", "\n  # #")
	cfg := loadText(t, head+"\ndevices:\n"+strings.ReplaceAll("\n"+devices, "\n  # ", "\n  "))
	if len(cfg.Devices) != 21 {
		t.Errorf("%d devices, want the boiler and 20 meters", len(cfg.Devices))
	}
	if points := cfg.Devices[0].Config.Points(); len(points) != 2 || !points[1].Writable {
		t.Errorf("points of the boiler: %+v", points)
	}
}

func loadText(t *testing.T, text string) *Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "voltbus.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(file, []driver.Kind{modbus.Kind()})
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}
