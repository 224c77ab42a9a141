package config

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"voltbus/broker/setting"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	database "voltbus/store/postgres/setting"
)

// meter is a driver's section as plain as one can be. A strict one checks itself, and reads a
// registry.
type meter struct {
	Address   string   `yaml:"address"`
	Unit      uint8    `yaml:"unit"`
	Registers []string `yaml:"registers"`
	File      string   `yaml:"file"`

	strict bool
}

func kinds() []driver.Kind {
	return []driver.Kind{
		{Name: "meter", NewConfig: func() driver.Config { return &meter{Unit: 1} }},
		{Name: "strict", NewConfig: func() driver.Config { return &meter{Unit: 1, strict: true} }},
	}
}

func (m *meter) Load(files driver.Files) []error {
	if m.File == "" {
		return nil
	}
	data, err := files.ReadFile(m.File, 1<<20)
	if err != nil {
		return []error{&driver.Problem{Key: "file", Text: `"` + m.File + `" does not exist; write the name of a registry`}}
	}
	var problems []error
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		name, _, _ := strings.Cut(line, ",")
		if name == "" {
			problems = append(problems, &driver.Problem{Key: "file", File: m.File, Row: i + 1, Text: "has no name; write one in the first column"})
			continue
		}
		m.Registers = append(m.Registers, name)
	}
	return problems
}

func (m *meter) Validate() []error {
	if !m.strict {
		return nil
	}
	var problems []error
	if m.Address == "" {
		problems = append(problems, &driver.Problem{Key: "address", Text: "is missing; write an address such as 10.0.0.5"})
	}
	if m.Unit == 255 {
		problems = append(problems, &driver.Problem{Key: "unit", Text: "255 is for broadcasts; write 1 to 254"})
	}
	if len(m.Registers) > 1 && m.Registers[1] == "" {
		problems = append(problems, &driver.Problem{Key: "registers[1]", Text: "is empty;\nwrite a name"})
	}
	return problems
}

func (m *meter) LineName() string { return m.Address }

func (m *meter) Points() []point.Info {
	infos := make([]point.Info, len(m.Registers))
	for i, name := range m.Registers {
		infos[i] = point.Info{Path: point.Path(name), Kind: point.Float, Writable: strings.HasPrefix(name, "set ")}
	}
	return infos
}

func TestEveryBadFileGivesItsMessages(t *testing.T) {
	t.Chdir("testdata")
	files, err := filepath.Glob("*.bad.yaml")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d bad files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".bad.yaml"), func(t *testing.T) {
			cfg, err := Load(file, kinds())
			if cfg != nil || !fault.Is(err, fault.Invalid) {
				t.Fatalf("got %v and error %v, want fault.Invalid", cfg, err)
			}
			if diff := cmp.Diff(wantedMessages(t, file), strings.Split(err.Error(), "\n")); diff != "" {
				t.Error("messages (-want +got):\n" + diff)
			}
		})
	}
}

// wantedMessages reads the comments "# want: message" of a bad file.
func wantedMessages(t *testing.T, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wants []string
	for scan := bufio.NewScanner(f); scan.Scan(); {
		if want, ok := strings.CutPrefix(scan.Text(), "# want: "); ok {
			wants = append(wants, want)
		}
	}
	return wants
}

func TestAGoodFileIsUnderstood(t *testing.T) {
	got, err := Load("testdata/good.yaml", kinds())
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Node:     Node{Name: "plant-1", Data: "testdata/history"},
		Listen:   Listen{HTTP: "[::1]:8080"},
		Log:      Log{MaxBytes: 2 * GiB},
		Audit:    Audit{MaxBytes: 64 * MiB, Keep: 3650 * 24 * time.Hour},
		Store:    Store{Engine: "duckdb", Schema: "voltbus", TLS: database.TLS{Mode: "verify"}, Retention: Retention{Age: 400 * 24 * time.Hour, Bytes: 100e9}, Memory: GiB},
		Recorder: Recorder{MaxAge: 20 * time.Millisecond, MaxBlock: 5000, Queue: 8},
		Ingest:   Ingest{Requests: 100, Samples: 50_000, Points: 2000, ChildPoints: 2_000_000, Retry: 48 * time.Hour, ClockAhead: 240 * time.Hour, ClockBehind: 8760 * time.Hour},
		Agents:   Default().Agents,
		Metering: Default().Metering,
		Control:  Control{Absence: 2 * time.Minute, Approval: time.Hour, Handover: time.Minute},
		MQTT:     setting.Default(), Uplink: Uplink{Age: 200 * time.Millisecond, Silence: 30 * time.Second},
		Live:    Live{Publish: []string{"scan", "breadth_point"}},
		Include: []string{"devices.d/*.yaml"},
		Devices: []Device{
			{
				Path: "hq/plant/boiler", Driver: "meter", Interval: 10 * time.Second, ReadAtStart: true, Timeout: 2 * time.Second,
				Publish: []string{"scan", "point"}, Record: true, Tags: map[string]string{"equip": "boiler", "floor": "0"},
				Config: &meter{Address: "10.0.0.5", Unit: 3, Registers: []string{"supply temp", "return.temp", "<b>*</b>"}},
				Source: Source{"testdata/good.yaml", 12, "devices.boiler"},
			},
			{
				Path: "hq/plant/boiler", Driver: "meter", Interval: 10 * time.Second, ReadAtStart: true, Timeout: 2 * time.Second,
				Publish: []string{"scan", "point"}, Tags: map[string]string{"equip": "boiler", "floor": "0"},
				Config: &meter{Address: "10.0.0.6", Unit: 1, Registers: []string{"speed"}},
				Source: Source{"testdata/good.yaml", 20, "devices.hq/plant/pump"},
			},
			fan(9), fan(10), fan(11),
			{
				Path: "hq/meter", Driver: "meter", Interval: time.Minute, ReadAtStart: true, Timeout: 10 * time.Second,
				Publish: []string{"scan", "breadth_point"}, Record: true,
				Config: &meter{Address: "10.0.2.1", Unit: 1, Registers: []string{"energy"}},
				Source: Source{"testdata/devices.d/meters.yaml", 2, "devices[0]"},
			},
		},
	}
	want.Devices[1].Path = "hq/plant/pump"
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(meter{})); diff != "" {
		t.Error("configuration (-want +got):\n" + diff)
	}
}

func fan(n int) Device {
	number := map[int][]string{9: {"09", "9"}, 10: {"10", "10"}, 11: {"11", "11"}}[n]
	return Device{
		Path: point.Path("hq/floor" + number[0] + "/fan" + number[1]), Driver: "meter",
		Interval: time.Minute, ReadAtStart: true, Timeout: 10 * time.Second, Group: "fans", Stagger: 5 * time.Second,
		Publish: []string{"scan", "breadth_point"}, Record: true,
		Config: &meter{Address: "10.0.1." + number[1], Unit: uint8(n + 100), Registers: []string{"speed " + number[1]}},
		Source: Source{"testdata/good.yaml", 25, "devices.hq/floor{n:02}/fan{n}"},
	}
}

func TestAnEmptyFileGivesTheDefaults(t *testing.T) {
	got, err := Load("testdata/empty.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if nodeName(got.Node.Name) != got.Node.Name || got.Node.Name == "" {
		t.Errorf("the host's name gave the node the name %q", got.Node.Name)
	}
	want := Default()
	want.Node = Node{Name: got.Node.Name, Data: "testdata/data"}
	want.Devices = []Device{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("configuration (-want +got):\n" + diff)
	}
}

func TestAFileThatCannotBeReadSaysWhatToDo(t *testing.T) {
	tests := map[string]struct {
		file string
		kind fault.Kind
		want string
	}{
		"absent":      {"testdata/absent.yaml", fault.NotFound, `testdata/absent.yaml: does not exist; write one with "voltbus init"`},
		"a directory": {"testdata", fault.Invalid, "testdata: is a directory; name the file, such as voltbus.yaml"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Load(tt.file, nil)
			if !fault.Is(err, tt.kind) || err.Error() != tt.want {
				t.Errorf("got %v error %q, want %v %q", fault.KindOf(err), err, tt.kind, tt.want)
			}
		})
	}
}

func TestProblemsHaveAFormForPrograms(t *testing.T) {
	t.Chdir("testdata")
	_, err := Load("record.bad.yaml", kinds())
	problems, ok := errors.AsType[Problems](err)
	if !ok {
		t.Fatalf("error %v holds no Problems", err)
	}
	got, err := json.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"file":"record.bad.yaml","line":3,"key":"devices.a.record","text":"\"yes\" is neither true nor false; write one of them"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSizesReadBackAsTheyWereWritten(t *testing.T) {
	for _, want := range []Size{0, 1, 1023, KiB, 1e3, 5e9, 256 * MiB, GiB, 3 * TiB, 1<<53 - 1} {
		var got Size
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%q reads back as %d, %v", want, got, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1GiB", "NaNB", "1e300TiB", "1 giga"} {
		if got := Size(7); got.UnmarshalText([]byte(text)) == nil || got != 7 {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// FuzzLoad looks for a panic, and for a message that is not one line with its place.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		var counted struct {
			Devices map[string]struct{ Count int }
		}
		if yaml.Unmarshal([]byte(text), &counted) == nil {
			for _, d := range counted.Devices {
				if d.Count > 1000 {
					t.Skip("many devices take long, and prove nothing more")
				}
			}
		}
		l := &loader{place: place{file: "testdata/fuzz.yaml"}, kinds: kinds()}
		if cfg := l.load([]byte(text)); cfg == nil && len(l.problems) == 0 {
			t.Error("neither a configuration nor a problem")
		}
		for _, p := range l.problems {
			if p.Line < 1 || p.Text == "" || strings.Contains(p.String(), "\n") {
				t.Errorf("not a line with its place: %q", p)
			}
		}
	})
}
