package volttron_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/config"
	"voltbus/config/volttron"
	"voltbus/driver/all"
)

const (
	rtuCSV = "\xef\xbb\xbfReference Point Name,Volttron Point Name,Units,Modbus Register,Writable,Point Address,Default Value\r\n" +
		"CO2,ReturnAirCO2,PPM,>f,FALSE,1001,\r\nBeat,HeartBeat,,BOOL,TRUE,3,\r\nSpare,,,>H,FALSE,1200,\r\n"
	mapCSV   = "Register Name,Address,Type,Units,Writable,Table\npower,0,int32,W,FALSE,analog_input_registers\n"
	fakeCSV  = "Point Name,Volttron Point Name,Units,Writable,Starting Value,Type\na,a,F,TRUE,1,float\nb,b,F,TRUE,1,float\n"
	relayCSV = "Point Name,Volttron Point Name,Group,Variation,Index,Scaling,Units,Writable,Notes\nU,voltage,30,5,0,1,V,FALSE,\n"
)

// driverStore is written after the documented form of the platform's own files.
var driverStore = map[string][2]string{
	"config": {"json", `{
  # comments may stand in it
  "driver_scrape_interval": 0.05, "group_offset_interval": 2,
  "publish_breadth_first_all": true, "publish_depth_first": false, "scalability_test": false
}`},
	"devices/campus/building/rtu4": {"json", `{"driver_config": {"device_address": "10.0.0.5", "port": 1502, "slave_id": 3},
  "driver_type": "modbus", "registry_config": "config://registry_configs/RTU4.csv", "interval": 60, "timezone": "US/Pacific",
  "heart_beat_point": "HeartBeat", "publish_depth_first_all": true, "publish_breadth_first_all": false, "mystery": 1}`},
	"devices/campus/building/rtu5": {"json", `{"driver_config": {"device_address": "10.0.0.6"}, "driver_type": "modbus",
  "registry_config": "config://registry_configs/rtu4.csv", "interval": 30, "group": 1}`},
	"devices/campus/building/meter": {"json", `{"driver_config": {"name": "meter", "device_address": "/dev/ttyUSB0", "port": 0, "slave_id": 2,
  "baudrate": 19200, "bytesize": 8, "parity": "even", "stopbits": 1, "xonxoff": 0, "addressing": "offset", "endian": "mixed",
  "write_multiple_registers": true, "register_map": "config://map.csv"}, "driver_type": "modbus_tk",
  "registry_config": "config://meter.json", "interval": "900"}`},
	"devices/campus/fake":       {"json", `{"driver_config": {}, "driver_type": "fakedriver", "registry_config": "config://fake.csv", "interval": 5}`},
	"devices/campus/relay":      {"json", `{"driver_config": {"master_ip": "0.0.0.0", "outstation_ip": "10.0.0.9", "master_id": 2, "outstation_id": 1, "port": 20001}, "driver_type": "dnp3", "registry_config": "config://relay.csv"}`},
	"devices/campus/ahu":        {"json", `{"driver_config": {"device_address": "51:17", "device_id": 17}, "driver_type": "bacnet", "registry_config": "config://ahu.csv"}`},
	"devices/campus/vav":        {"json", `{"driver_config": {"device_address": "10.0.0.7", "device_id": 3001, "min_priority": 9, "max_per_request": 20, "use_read_multiple": true, "cov_lifetime": 120, "timeout": 10.0, "proxy_address": "platform.bacnet_proxy"}, "driver_type": "bacnet", "registry_config": "config://vav.csv"}`},
	"devices/campus/thermostat": {"json", `{"driver_config": {"API_KEY": "x"}, "driver_type": "ecobee", "registry_config": "config://ahu.csv"}`},
	"registry_configs/rtu4.csv": {"csv", rtuCSV},
	"map.csv":                   {"csv", mapCSV},
	"meter.json":                {"json", `[{"Volttron Point Name": "Power", "Register Name": "power", "Units": "kW"}]`},
	"fake.csv":                  {"csv", fakeCSV},
	"relay.csv":                 {"csv", relayCSV},
	"ahu.csv":                   {"csv", ahuCSV},
	"vav.csv":                   {"csv", vavCSV},
	"old.csv":                   {"csv", rtuCSV},
}

// The registries of the BACnet scripts have a row for each object; notes and details are for people.
const (
	ahuCSV = "Reference Point Name,Volttron Point Name,Units,Unit Details,BACnet Object Type,Property,Writable,Index,Notes\n" +
		"Building/FCB.Local Application.CLG-O,CoolingCall,Enum,0-1 (default 0),binaryOutput,presentValue,TRUE,3000110,AHU cooling\n" +
		"Building/FCB.Local Application.MA-T,MixedAirTemperature,degreesFahrenheit,-50.00 to 250.00,analogInput,presentValue,FALSE,3000120,\n"
	vavCSV = "Point Name,Volttron Point Name,Units,Unit Details,BACnet Object Type,Property,Writable,Index,Write Priority,Notes,COV Flag\n" +
		"zn-t,ZoneTemperature,degreesCelsius,,analogInput,presentValue,FALSE,1,,,TRUE\n" +
		"zn-sp,ZoneSetpoint,degreesCelsius,(default 21.0),analogValue,presentValue,TRUE,2,16,,FALSE\n" +
		"mode,Mode,Enum,State count: 3,multiStateValue,presentValue,TRUE,3,16,,\n" +
		"vendor,VendorThing,,,300,presentValue,FALSE,4,,,\n"
)

func write(t *testing.T, file string, entries map[string][2]string) {
	t.Helper()
	store := map[string]any{}
	for name, e := range entries {
		store[name] = map[string]string{"type": e[0], "data": e[1], "modified": "2024-03-01T10:00:00.000000+00:00"}
	}
	data, err := json.Marshal(store)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o750)
	}
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// convert returns the result, and what its files say.
func convert(t *testing.T) (*volttron.Result, *config.Config) {
	t.Helper()
	home, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, "configuration_store", "platform.driver.store"), driverStore)
	write(t, filepath.Join(home, "configuration_store", "platform.actuator.store"), map[string][2]string{"config": {"json", `{"heartbeat_interval": 20}`}})
	write(t, filepath.Join(home, "configuration_store", "my.agent.store"), map[string][2]string{"config": {"raw", "x"}})
	r, err := volttron.Convert(home, "plant-1")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range r.Files {
		file := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(filepath.Join(out, volttron.ConfigFile), all.Kinds())
	if err != nil {
		t.Fatalf("%v\n%s", err, r.Files[volttron.ConfigFile])
	}
	return r, cfg
}

func TestAConvertedStoreIsAConfigurationWithoutProblems(t *testing.T) {
	r, cfg := convert(t)
	if r.Devices != 7 || r.Left != 1 || len(cfg.Devices) != 7 || cfg.Node.Name != "plant-1" {
		t.Errorf("%d devices, %d left, %d loaded", r.Devices, r.Left, len(cfg.Devices))
	}
	if !slices.Equal(cfg.Live.Publish, []string{"scan", "breadth_scan"}) {
		t.Errorf("the node publishes %v", cfg.Live.Publish)
	}
	type summary struct {
		Path, Driver, Line, Group string
		Interval, Offset, Stagger time.Duration
		Publish                   string
		Points                    int
	}
	var got []summary
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		got = append(got, summary{
			string(d.Path), d.Driver, d.Config.LineName(), d.Group, d.Interval, d.Offset, d.Stagger,
			strings.Join(d.Publish, " "), len(d.Config.Points()),
		})
	}
	want := []summary{
		{"campus/ahu", "bacnet", "bacnet://0.0.0.0/network 51", "group0", time.Minute, 0, 300 * time.Millisecond, "scan breadth_scan", 2},
		{"campus/building/meter", "modbus", "rtu:///dev/ttyUSB0", "group0", 15 * time.Minute, 0, 300 * time.Millisecond, "scan breadth_scan", 1},
		{"campus/building/rtu4", "modbus", "tcp://10.0.0.5:1502", "group0", time.Minute, 0, 300 * time.Millisecond, "scan", 2},
		{"campus/building/rtu5", "modbus", "tcp://10.0.0.6:502", "", 30 * time.Second, 2 * time.Second, 0, "scan breadth_scan", 2},
		{"campus/fake", "sim", "", "group0", 5 * time.Second, 0, 300 * time.Millisecond, "scan breadth_scan", 2},
		{"campus/relay", "dnp3", "tcp://10.0.0.9:20001", "group0", time.Minute, 0, 300 * time.Millisecond, "scan breadth_scan", 1},
		{"campus/vav", "bacnet", "bacnet://0.0.0.0/10.0.0.7", "group0", time.Minute, 0, 300 * time.Millisecond, "scan breadth_scan", 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("devices differ (-want +got):\n%s\n%s", diff, r.Files[volttron.ConfigFile])
	}
	for i := range cfg.Devices {
		d := &cfg.Devices[i]
		for _, p := range d.Controlled() {
			if beats := string(d.Path) == "campus/building/rtu4" && p.Point == "campus/building/rtu4/HeartBeat"; beats != (p.Heartbeat == 20*time.Second) {
				t.Errorf("the heartbeat of %s is %v", p.Point, p.Heartbeat)
			}
		}
	}
}

func TestTheReportSaysWhatWasNotConvertedAndWhy(t *testing.T) {
	r, _ := convert(t)
	report, text := string(r.Files[volttron.ReportFile]), string(r.Files[volttron.ConfigFile])
	for _, want := range []string{
		"7 devices converted, 1 left as comments",
		"- `config`: scalability_test: is not known here, and left out",
		"- `devices/campus/thermostat`: is a comment in voltbus.yaml: there is no driver \"ecobee\"",
		"- `devices/campus/vav`: proxy_address: there is no proxy",
		"- `devices/campus/building/rtu4`: timezone US/Pacific",
		"- `devices/campus/building/rtu4`: mystery: is not known here",
		"- `devices/campus/fake`: fakedriver: the simulated device has as many points",
		"- `old.csv`: no device names it",
		"## my.agent\n\n- `config`: is the configuration of an agent",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
	if !strings.Contains(text, "# devices/campus/thermostat: there is no driver \"ecobee\". It was:\n#   {\"driver_config\"") {
		t.Errorf("the device that is left is no comment:\n%s", text)
	}
}

func TestAFolderWithoutAStoreIsRefused(t *testing.T) {
	for name, file := range map[string]string{"absent": filepath.Join(t.TempDir(), "x"), "empty": t.TempDir()} {
		if _, err := volttron.Convert(file, "n"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	bad := filepath.Join(t.TempDir(), "platform.driver.store")
	if err := os.WriteFile(bad, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := volttron.Convert(bad, "n"); err == nil || !strings.Contains(err.Error(), "is not the JSON of a configuration store") {
		t.Errorf("got %v", err)
	}
}
