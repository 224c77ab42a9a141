package edit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/config"
	"voltbus/config/edit"
	"voltbus/driver/all"
	"voltbus/fault"
)

func newZone() edit.NewDevice {
	return edit.NewDevice{Path: "site/new", Driver: "sim", Interval: "10s", Config: []byte(`{"model":"zone","seed":7}`)}
}

func TestADeviceIsAddedBehindTheOthers(t *testing.T) {
	const item = "path: site/new\nZdriver: sim\nZinterval: 10s\nZconfig:\nZ  model: zone\nZ  seed: 7\n"
	list := func(indent string) string {
		return indent + "- " + strings.ReplaceAll(item, "Z", indent+"  ")
	}
	keys := func(indent string) string {
		return indent + "site/new:\n" + strings.ReplaceAll(strings.TrimPrefix(item, "path: site/new\n"), "Z", indent+"  ")
	}
	for name, tt := range map[string]struct{ before, want string }{
		"an empty file":   {"", "devices:\n" + keys("  ")},
		"only a comment":  {"# mine\n", "# mine\ndevices:\n" + keys("  ")},
		"another section": {"log: {max_bytes: 1GiB}", "log: {max_bytes: 1GiB}\ndevices:\n" + keys("  ")},
		"no device yet": {
			"devices: # none\n  # a: {driver: sim}\n\nlog:\n  max_bytes: 1GiB\n",
			"devices: # none\n" + keys("  ") + "  # a: {driver: sim}\n\nlog:\n  max_bytes: 1GiB\n",
		},
		"a list": {
			"devices:\n  # first\n  - {path: a, driver: sim}   # here\n\n  - path: b\n    driver: sim\n    # of b\n\n# the log\nlog: {max_bytes: 1GiB}\n",
			"devices:\n  # first\n  - {path: a, driver: sim}   # here\n\n  - path: b\n    driver: sim\n    # of b\n" + list("  ") + "\n# the log\nlog: {max_bytes: 1GiB}\n",
		},
		"a list at the margin": {
			"devices:\n- path: a\n  driver: sim\n", "devices:\n- path: a\n  driver: sim\n" + list(""),
		},
		"a list that ends without a line break": {
			"devices:\n  - path: a\n    driver: sim", "devices:\n  - path: a\n    driver: sim\n" + list("  "),
		},
		"keys": {
			"devices:\n    a:\n        driver: sim\n\n\n", "devices:\n    a:\n        driver: sim\n" + keys("    ") + "\n\n",
		},
		"a list in brackets": {
			"# top\ndevices: [{path: a, driver: sim}] # here\n",
			"# top\ndevices: # here\n" + "  - {path: a, driver: sim}\n" + list("  "),
		},
		"an empty list": {"devices: []\n", "devices:\n" + list("  ")},
		"empty keys":    {"devices: {}\n", "devices:\n" + keys("  ")},
	} {
		t.Run(name, func(t *testing.T) {
			text, cfg, err := edit.AddDevice(config.Place{File: "voltbus.yaml", Kinds: all.Kinds()}, []byte(tt.before), newZone())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(text)); diff != "" {
				t.Error("text (-want +got):\n" + diff)
			}
			if d := cfg.Devices[len(cfg.Devices)-1]; d.Path != "site/new" || d.Driver != "sim" {
				t.Errorf("the last device is %+v", d)
			}
		})
	}
}

func TestADeviceIsAddedToTheTemplate(t *testing.T) {
	text, _, err := edit.AddDevice(config.Place{File: "voltbus.yaml", Kinds: all.Kinds()}, config.Template(), newZone())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(text) - len(config.Template()); got > 120 || !strings.Contains(string(text), "# Who this node is") {
		t.Errorf("the template grew by %d bytes:\n%s", got, text)
	}
}

func TestADeviceThatCannotBeAddedIsRefused(t *testing.T) {
	const before = "devices:\n  - {path: site/new, driver: sim}\n"
	for name, tt := range map[string]struct {
		before string
		change func(*edit.NewDevice)
		kind   fault.Kind
		want   string
	}{
		"a path that is taken":         {before, func(*edit.NewDevice) {}, fault.Conflict, "voltbus.yaml:2"},
		"a file that is wrong already": {"devices: 5\n", func(*edit.NewDevice) {}, fault.Invalid, "voltbus.yaml:1"},
		"a device without a path":      {"", func(d *edit.NewDevice) { d.Path = "" }, fault.Invalid, "path: is missing"},
		"an unknown driver":            {"", func(d *edit.NewDevice) { d.Driver = "fax" }, fault.Invalid, `driver: "fax" is not a driver`},
		"an unknown key":               {"", func(d *edit.NewDevice) { d.Config = []byte(`{"x":1}`) }, fault.Invalid, "config.x: unknown key"},
		"a value of the wrong type":    {"", func(d *edit.NewDevice) { d.Config = []byte(`{"seed":"many"}`) }, fault.Invalid, "config.seed: "},
		"a list for a section":         {"", func(d *edit.NewDevice) { d.Config = []byte(`[1]`) }, fault.Invalid, "must be a JSON object"},
		"a section that is cut":        {"", func(d *edit.NewDevice) { d.Config = []byte(`{"model":`) }, fault.Invalid, "must be a JSON object"},
		"two sections":                 {"", func(d *edit.NewDevice) { d.Config = []byte(`{} {}`) }, fault.Invalid, "behind"},
		"a section without end": {
			"", func(d *edit.NewDevice) { d.Config = []byte(strings.Repeat(`{"a":`, 1000)) }, fault.Invalid, "nested more than 32 deep",
		},
		"an interval without a unit": {"", func(d *edit.NewDevice) { d.Interval = "10" }, fault.Invalid, "interval: "},
	} {
		t.Run(name, func(t *testing.T) {
			d := newZone()
			tt.change(&d)
			_, _, err := edit.AddDevice(config.Place{File: "voltbus.yaml", Kinds: all.Kinds()}, []byte(tt.before), d)
			if !fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %v with %q", err, tt.kind, tt.want)
			}
		})
	}
}

// Whatever text stands in a device's section, it comes back as it was, and nothing else changes.
func TestAnyTextSurvivesTheFile(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.String().Draw(r, "line")
		section, err := json.Marshal(map[string]any{"line": want})
		if err != nil {
			r.Fatal(err)
		}
		if err := json.Unmarshal(section, &struct{ Line *string }{&want}); err != nil { // as JSON can hold it
			r.Fatal(err)
		}
		d := newZone()
		d.Config = section
		text, cfg, err := edit.AddDevice(config.Place{File: "voltbus.yaml", Kinds: all.Kinds()}, []byte("devices:\n  a: {driver: sim}\n"), d)
		if err != nil {
			if _, ok := errors.AsType[config.Problems](err); ok {
				return // a control character that YAML cannot hold
			}
			r.Fatal(err)
		}
		if got := cfg.Devices[1].Config.LineName(); strings.TrimPrefix(got, "sim:") != want {
			r.Fatalf("%q became %q in\n%s", want, got, text)
		}
	})
}

func TestSeveralDevicesAreAddedInOneText(t *testing.T) {
	one, two := newZone(), newZone()
	two.Path, two.Config = "site/other", nil
	for name, tt := range map[string]struct{ before, want string }{
		"a list": {
			"devices:\n  - {path: a, driver: sim}   # here\n\n# the log\nlog: {max_bytes: 1GiB}\n",
			"devices:\n  - {path: a, driver: sim}   # here\n  - path: site/new\n    driver: sim\n    interval: 10s\n    config:\n      model: zone\n      seed: 7\n" +
				"  - path: site/other\n    driver: sim\n    interval: 10s\n\n# the log\nlog: {max_bytes: 1GiB}\n",
		},
		"names": {
			"devices:\n  a: {driver: sim}\n",
			"devices:\n  a: {driver: sim}\n  site/new:\n    driver: sim\n    interval: 10s\n    config:\n      model: zone\n      seed: 7\n" +
				"  site/other:\n    driver: sim\n    interval: 10s\n",
		},
		"brackets": {
			"devices: []\n",
			"devices:\n  - path: site/new\n    driver: sim\n    interval: 10s\n    config:\n      model: zone\n      seed: 7\n  - path: site/other\n    driver: sim\n    interval: 10s\n",
		},
	} {
		got, cfg, err := edit.AddDevices(config.Place{File: "voltbus.yaml", Kinds: all.Kinds()}, []byte(tt.before), []edit.NewDevice{one, two})
		if err != nil || len(cfg.Devices) < 2 {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(tt.want, string(got)); d != "" {
			t.Errorf("%s: the text differs:\n%s", name, d)
		}
	}
}
