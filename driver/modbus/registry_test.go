package modbus

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/internal/folder"
	"voltbus/point"
)

// summary is what a register of a registry came to.
type summary struct {
	Name, Table string
	Address     uint16
	Words       int
	Kind        string
	Unit        string
	Writable    bool
	Default     string
}

func summaries(c *Config) []summary {
	var out []summary
	for i := range c.registers {
		r := &c.registers[i]
		out = append(out, summary{r.name, r.table.String(), r.address, r.layout.Words, r.kind().String(), r.unit, r.writable, r.preset.String()})
	}
	return out
}

func TestRegistryFiles(t *testing.T) {
	for name, c := range map[string]struct {
		registry, registerMap string
		want                  []summary
	}{
		"the plain form": {"modbus.csv", "", []summary{
			{"ReturnAirCO2", "input", 1001, 2, "float", "PPM", false, ""},
			{"ReturnAirCO2Stpt", "holding", 1011, 2, "float", "PPM", true, "1000"},
			{"CoolSupplyFanSpeed1", "holding", 1005, 1, "int", "%", true, "75"},
			{"OutsideDamper", "input", 1023, 2, "float", "%", false, ""},
			{"Occupied", "discrete", 1, 1, "bool", "", false, ""},
			{"Enable", "coil", 2, 1, "bool", "", true, "true"},
		}},
		"a register map and a registry that selects from it": {"modbus_tk.csv", "modbus_tk_map.csv", []summary{
			{"unsigned short", "holding", 0, 1, "float", "None", true, "0"},
			{"on", "coil", 16, 1, "bool", "None", true, "false"},
			{"title", "holding", 19, 6, "text", "None", true, "hello world!"},
			{"kilo", "input", 30, 1, "int", "", false, ""},
			{"Power", "input", 31, 2, "float", "kW", false, ""},
		}},
		"a register map alone": {"modbus_tk_map.csv", "", []summary{
			{"unsigned_short", "holding", 0, 1, "float", "None", true, "0"},
			{"sample_bool", "coil", 16, 1, "bool", "None", true, "false"},
			{"sample_str", "holding", 19, 6, "text", "None", true, "hello world!"},
			{"exponent", "input", 30, 1, "int", "", false, ""},
			{"power", "input", 31, 2, "float", "W", false, ""},
		}},
		"YAML": {"boiler.yaml", "", []summary{
			{"supply", "holding", 16, 2, "float", "degC", false, ""},
			{"mode", "input", 40, 1, "int", "", false, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			config := NewConfig()
			config.Address, config.Registry.File, config.RegisterMap = "plc", c.registry, c.registerMap
			if problems := append(config.Load(folder.Any("testdata")), config.Validate()...); len(problems) > 0 {
				t.Fatalf("got problems: %v", errors.Join(problems...))
			}
			if diff := cmp.Diff(c.want, summaries(config)); diff != "" {
				t.Errorf("registers differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheRegisterThatScalesMayBeNamedAsPointOrAsRegister(t *testing.T) {
	c := NewConfig()
	c.Address, c.Registry.File, c.RegisterMap = "plc", "modbus_tk.csv", "modbus_tk_map.csv"
	c.Load(folder.Any("testdata"))
	if got := c.registers[4].change.other; got != "kilo" {
		t.Errorf("power is scaled by %q, want the point kilo", got)
	}
}

func TestCSVIsReadInEveryDisguise(t *testing.T) {
	want := []summary{{"a, b", "holding", 7, 1, "int", "°C", true, ""}}
	for name, text := range map[string]string{
		"with a byte order mark":      "\ufeffName,Table,Address,Type,Unit,Writable\n\"a, b\",holding,7,int16,°C,yes\n",
		"with semicolons":             "name;table;address;type;unit;writable\na, b;holding;7;int16;°C;1\n",
		"with spaces and CRLF":        " NAME , Table, ADDRESS ,Type,Units , Writable\r\n \"a, b\", holding , 7 , INT16 , °C , TRUE \r\n",
		"with empty rows and columns": "name,,table,address,type,unit,writable,\n,,,,,,,\n\"a, b\",,holding,7,int16,°C,t,\n\n",
		"without the last cells":      "writable,name,table,address,type,unit,description\ny,\"a, b\",holding,7,int16,°C\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := NewConfig()
			var problems []error
			c.Registry.Entries, problems = ParseCSV("registry", "r.csv", strings.NewReader(text))
			c.compile()
			if problems = append(problems, c.problems...); len(problems) > 0 {
				t.Fatalf("got problems: %v", errors.Join(problems...))
			}
			if diff := cmp.Diff(want, summaries(c)); diff != "" {
				t.Errorf("registers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// place is a problem as a person sees it.
type place struct {
	Row  int
	Text string
}

func TestEveryProblemOfARegistryIsReportedAtOnce(t *testing.T) {
	const text = `Name,Table,Address,Type,Bit,Scale,Transform,Writable,Default,Colour
ok,holding,1,int16,,,,,,
,holding,2,int16,,,,,,
dup,holding,3,int16,,,,,,
dup,holding,4,int16,,,,,,
far,holding,65536,int16,,,,,,
last,holding,65535,int32,,,,,,
hex,holding,4o,int16,,,,,,
odd,holding,5,int24,,,,,,
long,holding,5,string[999],,,,,,
bit,holding,6,int16,16,,,,,
sign,input,7,int16,,,,true,,
coil,coil,8,int16,,,,,,
half,holding,9,int16,,zero,,,,
twist,holding,9,int16,,,twist(2),,,
mod,holding,9,int16,,,mod10k(),,,
alone,holding,9,int16,,,scale_reg(gone),,,
preset,holding,9,int16,,,,true,warm,
where,attic,9,int16,,,,,,
`
	c := NewConfig()
	entries, problems := ParseCSV("registry", "boiler.csv", strings.NewReader(text))
	c.Registry.Entries = entries
	c.compile()
	var got []place
	for _, err := range append(problems, c.problems...) {
		var p *driver.Problem
		if !errors.As(err, &p) || p.File != "boiler.csv" {
			t.Errorf("%v is not a problem of the file", err)
			continue
		}
		got = append(got, place{p.Row, p.Error()})
	}
	want := []place{
		{1, `registry: column "colour" is not known; write name, table, address, type, byte_order, bit, scale, offset, transform, missing, states, unit, writable, default, min, max, description or tags, or remove it`},
		{3, `registry[1].name: is missing; write the point's name`},
		{5, `registry[3].name: (dup) stands there twice, first as row 4; write another name`},
		{6, `registry[4].address: (far) 65536 is out of range for the table holding; write a number from 0 to 65535`},
		{7, `registry[5].address: (last) 65535 is out of range for the table holding; write a number from 0 to 65534`},
		{8, `registry[6].address: (hex) "4o" is not a number; write one such as 40 or 0x28`},
		{9, `registry[7].type: (odd) "int24" is not known; write bool, int16, uint16, int32, uint32, int64, uint64, float32, float64, string[n] or string[n,latin1]`},
		{10, `registry[8].type: (long) "string[999]" is not a text; write string[n] with n bytes, 1 to 250`},
		{11, `registry[9].type: (bit) bit "16" is not possible; write a bit from 0 to 15, or a range such as 4-7`},
		{12, `registry[10].writable: (sign) cannot be true in the table input; write false, or the table coil or holding`},
		{13, `registry[11].table: (coil) coil holds single bits; write the type bool without bit, or the table input or holding`},
		{14, `registry[12].transform: (half) "zero" cannot scale; write a number other than zero`},
		{15, `registry[13].transform: (twist) "twist(2)" is not known; write scale(x), scale_int(x), scale_decimal_int_signed(x), mod10k(reverse), mod10k64(reverse), mod10k48(reverse), scale_reg(name) or scale_reg_pow_10(name)`},
		{16, `registry[14].transform: (mod) mod10k() needs a whole number of 32 bits; write the type int32`},
		{18, `registry[16].default: (preset) "warm" is not a whole number`},
		{19, `registry[17].table: (where) "attic" is not known; write coil, discrete, input or holding`},
		{17, `registry[15].transform: (alone) needs the numeric register "gone", which the registry does not have; add it`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

func TestAFileThatIsNoRegistryIsOneProblem(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ file, text, want string }{
		"empty":              {"a.csv", "", "write a heading"},
		"not UTF-8":          {"a.csv", "name\n\xff\xfe\n", "save it as UTF-8"},
		"an open quote":      {"a.csv", "name,type\n\"a,int16\n", "is not CSV"},
		"too many cells":     {"a.csv", "name,address,type\na,1,int16,more\n", "more cells than the heading"},
		"not YAML":           {"a.yaml", "a: [", "is not YAML"},
		"YAML without list":  {"a.yml", "name: a\n", "is not a list"},
		"YAML of scalars":    {"a.yml", "- a\n", "is not a register"},
		"an unknown key":     {"a.yml", "- {name: a, adress: 1, type: int16}\n", `"adress" is not known`},
		"a list for a value": {"a.yml", "- {name: [a], address: 1, type: int16}\n", "is not a single value"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			config := NewConfig()
			config.Registry.File = c.file
			if got := errors.Join(config.Load(folder.Any(dir))...); got == nil || !strings.Contains(got.Error(), c.want) {
				t.Errorf("got %v, want a problem with %q", got, c.want)
			}
		})
	}
	config := NewConfig()
	config.Registry.File = "nowhere.csv"
	if got := errors.Join(config.Load(folder.Any(dir))...); got == nil || !strings.Contains(got.Error(), "relative to the configuration") {
		t.Errorf("a missing file gave %v", got)
	}
}

func TestValidateReportsEveryProblemOfTheDevice(t *testing.T) {
	c := NewConfig()
	err := yaml.Unmarshal([]byte(`
transport: udp
address: ""
unit: 256
timeout: 0s
baudrate: 1
databits: 9
parity: mark
stopbits: 3
addressing: guess
byte_order: ABDC
max_registers: 126
max_gap: -1
`), c)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, err := range append(c.Load(folder.Any(t.TempDir())), c.Validate()...) {
		if p, ok := errors.AsType[*driver.Problem](err); ok {
			keys = append(keys, p.Key)
		}
		if !strings.Contains(err.Error(), "write ") {
			t.Errorf("%v does not say what to write", err)
		}
	}
	want := []string{
		"transport", "address", "unit", "timeout", "baudrate", "databits", "stopbits", "parity", "addressing",
		"byte_order", "max_registers", "max_gap", "registry",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys differ (-want +got):\n%s", diff)
	}
}

func TestAddressing(t *testing.T) {
	for name, c := range map[string]struct {
		addressing, table, address string
		want                       uint16
		wrong                      bool
	}{
		"offset is as on the wire":                 {"offset", "holding", "40", 40, false},
		"offset_plus counts from one":              {"offset_plus", "holding", "1", 0, false},
		"offset_plus has no zero":                  {"offset_plus", "holding", "0", 0, true},
		"address of a coil":                        {"address", "coil", "1", 0, false},
		"address of a discrete input":              {"address", "discrete", "10001", 0, false},
		"address of an input register":             {"address", "input", "30011", 10, false},
		"address of a holding register":            {"address", "holding", "40101", 100, false},
		"address with six digits":                  {"address", "holding", "465536", 65535, false},
		"address of another table":                 {"address", "holding", "30001", 0, true},
		"a leading zero does not make it octal":    {"offset", "holding", "0100", 100, false},
		"a leading 0x makes it hexadecimal":        {"offset", "holding", "0xFFFF", 65535, false},
		"a negative address is refused":            {"offset", "holding", "-1", 0, true},
		"upper case and any table name is allowed": {"OFFSET", "Analog Output Holding Registers", "3", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			config := NewConfig()
			typ := "int16"
			if c.table == "coil" || c.table == "discrete" {
				typ = "bool"
			}
			config.Addressing = c.addressing
			config.Registry.Entries = []Entry{{Name: "p", Table: c.table, Address: c.address, Type: typ}}
			config.compile()
			if c.wrong != (len(config.problems) > 0) {
				t.Fatalf("problems: %v, want some: %v", config.problems, c.wrong)
			}
			if !c.wrong && config.registers[0].address != c.want {
				t.Errorf("got %d, want %d", config.registers[0].address, c.want)
			}
		})
	}
}

func TestLineName(t *testing.T) {
	for _, c := range []struct{ transport, address, want string }{
		{"tcp", "plc", "tcp://plc:502"},
		{"tcp", "10.0.0.5:1502", "tcp://10.0.0.5:1502"},
		{"TCP", "[::1]", "tcp://[::1]:502"},
		{"rtuovertcp", "gw:4001", "rtuovertcp://gw:4001"},
		{"rtu", "/dev/ttyUSB0", "rtu:///dev/ttyUSB0"},
	} {
		config := NewConfig()
		config.Transport, config.Address = c.transport, c.address
		if got := config.LineName(); got != c.want {
			t.Errorf("%s %s is the line %q, want %q", c.transport, c.address, got, c.want)
		}
	}
}

func TestPointsSayWhatThePointsAre(t *testing.T) {
	c := NewConfig()
	c.Address, c.Registry.File = "plc", "boiler.yaml"
	c.Load(folder.Any("testdata"))
	want := []point.Info{
		{Path: "supply", Kind: point.Float, Unit: "degC", Tags: map[string]string{"equip": "boiler", "floor": "2"}},
		{Path: "mode", Kind: point.Int, Description: "Mode <of> operation"},
	}
	if diff := cmp.Diff(want, c.Points(), compareValues); diff != "" {
		t.Errorf("points differ (-want +got):\n%s", diff)
	}
}

func TestDefaultsAreValuesOfThePointsKind(t *testing.T) {
	c := NewConfig()
	c.Address, c.Registry.File = "plc", "modbus.csv"
	c.Load(folder.Any("testdata"))
	got := map[string]point.Value{}
	for _, info := range c.Points() {
		if info.Default.Kind() != point.None {
			got[string(info.Path)] = info.Default
		}
	}
	want := map[string]point.Value{
		"ReturnAirCO2Stpt": point.FloatOf(1000), "CoolSupplyFanSpeed1": point.IntOf(75), "Enable": point.BoolOf(true),
	}
	if diff := cmp.Diff(want, got, compareValues); diff != "" {
		t.Errorf("defaults differ (-want +got):\n%s", diff)
	}
}

// FuzzParseCSV looks for a panic, and for a registry that is taken without a complaint although
// its points cannot be used.
func FuzzParseCSV(f *testing.F) {
	for _, name := range []string{"modbus.csv", "modbus_tk.csv", "modbus_tk_map.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("\ufeffname;address;type;tags\n\"a\"\"b\";0x10;string[5];x=1;y=2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := NewConfig()
		var problems []error
		c.Registry.Entries, problems = ParseCSV("registry", "r.csv", bytes.NewReader(data))
		c.compile()
		if len(problems)+len(c.problems) > 0 {
			return
		}
		for _, info := range c.Points() {
			if err := info.Path.Validate(); err != nil {
				t.Errorf("the point %q was taken: %v", info.Path, err)
			}
		}
		for _, r := range newPlanner(c.registers, c.MaxRegisters, 0).plan(everything) {
			if int(r.first)+int(r.count) > 1<<16 {
				t.Errorf("request %+v goes beyond the address space", r)
			}
		}
	})
}
