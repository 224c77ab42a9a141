package pointlist_test

import (
	"math"
	"strings"
	"testing"

	"voltbus/driver"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/registry"
	"voltbus/point"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// item returns the only point of a registry.
func item(t *testing.T, columns map[string]string) pointlist.Item {
	t.Helper()
	if columns["name"] == "" {
		columns["name"] = "x"
	}
	return pointlist.ItemOf(columns)
}

func TestValuesOfBACnetBecomeValuesOfPointsAndBack(t *testing.T) {
	for _, tt := range []struct {
		name    string
		columns map[string]string
		wire    encoding.Value
		value   point.Value
	}{
		{"analog", map[string]string{"object": "analog-value:1"}, encoding.Real(21.5), point.FloatOf(21.5)},
		{"binary", map[string]string{"object": "binaryValue:1"}, encoding.Enumerated(uint8(1)), point.BoolOf(true)},
		{"binary as text", map[string]string{"object": "binary-output:1", "type": "text", "states": "off|on"}, encoding.Enumerated(uint8(1)), point.TextOf("on")},
		{"binary as number", map[string]string{"object": "binary-output:1", "type": "int"}, encoding.Enumerated(uint8(1)), point.IntOf(1)},
		{"multi-state", map[string]string{"object": "multi-state-value:1"}, encoding.Unsigned(3), point.IntOf(3)},
		{"multi-state as text", map[string]string{"object": "multiStateValue:1", "type": "text", "states": "off|low|high"}, encoding.Unsigned(3), point.TextOf("high")},
		{"text", map[string]string{"object": "characterstring-value:1"}, encoding.Text("grün"), point.TextOf("grün")},
		{"signed", map[string]string{"object": "integer-value:1"}, encoding.Signed(-5), point.IntOf(-5)},
		{"double", map[string]string{"object": "large-analog-value:1"}, encoding.Double(1e100), point.FloatOf(1e100)},
		{"out of service", map[string]string{"object": "analog-input:1", "property": "outOfService"}, encoding.Boolean(true), point.BoolOf(true)},
	} {
		i := item(t, tt.columns)
		if got, ok := i.Decode(encoding.Encode(tt.wire)); !ok || got != tt.value {
			t.Errorf("%s: %v is %v, %t, want %v", tt.name, tt.wire, got, ok, tt.value)
		}
		if got, err := i.Encode(tt.value, encoding.KindNull); err != nil || got != tt.wire {
			t.Errorf("%s: %v becomes %v, %v, want %v", tt.name, tt.value, got, err, tt.wire)
		}
	}
}

func TestWhatIsNotKnownStaysAsTheDeviceSendsIt(t *testing.T) {
	vendor := item(t, map[string]string{"object": "300:1"})
	for _, tt := range []struct {
		data encoding.Any
		want point.Value
	}{
		{encoding.Encode(encoding.Real(1.5)), point.FloatOf(1.5)},
		{encoding.Encode(encoding.Text("a"), encoding.Unsigned(2)), point.TextOf("a, 2")},
		{encoding.Any{0x0E, 0x21, 0x05, 0x0F}, point.TextOf("0E21050F")},
		{encoding.Encode(encoding.OctetString([]byte{1, 255})), point.TextOf("01FF")},
	} {
		if got, ok := vendor.Decode(tt.data); !ok || got != tt.want {
			t.Errorf("%X is %v, %t, want %v", []byte(tt.data), got, ok, tt.want)
		}
	}
	if v, ok := vendor.Decode(encoding.Any{0x44, 0x01}); ok {
		t.Errorf("a value that is cut is %v", v)
	}
	if got, err := vendor.Encode(point.FloatOf(2), encoding.KindUnsigned); err != nil || got != encoding.Unsigned(2) {
		t.Errorf("by the type that the device has, 2 is %v, %v", got, err)
	}
}

func TestValuesThatDoNotFitAreRefusedWithTheLimit(t *testing.T) {
	for _, tt := range []struct {
		columns map[string]string
		value   point.Value
		want    string
	}{
		{map[string]string{"object": "analog-value:1"}, point.FloatOf(1e300), "does not fit a real of 32 bits"},
		{map[string]string{"object": "analog-value:1"}, point.FloatOf(math.NaN()), "is no number"},
		{map[string]string{"object": "analog-value:1"}, point.Value{}, "is no value"},
		{map[string]string{"object": "binary-value:1"}, point.IntOf(2), "write 0 for inactive or 1 for active"},
		{map[string]string{"object": "multi-state-value:1"}, point.IntOf(0), "states count from 1"},
		{map[string]string{"object": "multi-state-value:1"}, point.FloatOf(1.5), "a whole number from 0 to 4294967295"},
		{map[string]string{"object": "multi-state-value:1", "type": "text", "states": "off|on"}, point.TextOf("half"), `"half" is no state of the point; write off, on`},
		{map[string]string{"object": "integer-value:1"}, point.FloatOf(1e10), "from -2147483648 to 2147483647"},
	} {
		i := item(t, tt.columns)
		if got, err := i.Rounded(tt.value); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v of %v becomes %v, %v, want %q", tt.value, tt.columns, got, err, tt.want)
		}
	}
	real32 := item(t, map[string]string{"object": "analog-value:1"})
	if got, err := real32.Rounded(point.FloatOf(21.3)); err != nil || got != point.FloatOf(float64(float32(21.3))) {
		t.Errorf("21.3 is rounded to %v, %v", got, err)
	}
}

func TestUnitsOfTheStandardBecomeThoseOfANode(t *testing.T) {
	for text, want := range map[string]string{
		"degreesCelsius": "degC", "degrees-fahrenheit": "degF", "percent": "%", "kilowattHours": "kWh", "noUnits": "", "degC": "degC",
		"PPM": "PPM", "Enum": "Enum", "litersPerSecond": "L/s",
	} {
		if got := pointlist.UnitOf(text); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	if got := pointlist.UnitText(enum.Unit(300)); got != "300" {
		t.Errorf("a unit of a vendor is %q", got)
	}
}

func TestNamesOfObjectsAreMadeReadableAndUnique(t *testing.T) {
	n := pointlist.Namer{Prefix: "AHU-1"}
	for i, tt := range []struct{ name, want string }{
		{"AHU-1.Supply Air / Temp", "Supply_Air_Temp"},
		{"AHU-1.Supply Air Temp", "Supply_Air_Temp_analog-input_1"},
		{"AHU-1", "AHU-1"},
		{"", "analog-input_3"},
		{"..", "analog-input_4"},
		{"Züri\x00Nord", "Züri_Nord"},
	} {
		got := n.Name(encoding.ObjectID{Instance: uint32(i)}, tt.name)
		if got != tt.want || point.Path(got).Validate() != nil {
			t.Errorf("%q becomes %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestARegistryOfTheBACnetScriptsIsReadUnchanged(t *testing.T) {
	text := "Point Name,Volttron Point Name,Units,Unit Details,BACnet Object Type,Property,Writable,Index,Write Priority,Notes,COV Flag\n" +
		"zn-t,ZoneTemperature,degreesCelsius,,analogInput,presentValue,FALSE,1,,,TRUE\n" +
		"zn-sp,ZoneSetpoint,degreesCelsius,(default 21.0),analogValue,presentValue,TRUE,2,16,note,FALSE\n" +
		",,,,analogInput,presentValue,FALSE,3,,,\n"
	entries, problems := pointlist.ParseCSV("registry", "x.csv", strings.NewReader(text))
	if len(problems) != 1 || len(entries) != 2 {
		t.Fatalf("%d entries, problems %v", len(entries), problems)
	}
	r := pointlist.Registry{List: registry.List[pointlist.Entry]{Entries: entries}}
	items, problems := r.Items()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if i := items[0]; i.Object.String() != "analog-input:1" || !i.COV || i.Writable || i.Info().Unit != "degC" {
		t.Errorf("the temperature is %+v", i)
	}
	if i := items[1]; !i.Writable || !i.Prioritized || i.Priority != 16 || i.COV || i.Info().Description != "note" {
		t.Errorf("the set point is %+v", i)
	}
}

func TestEveryMistakeOfARegistrySaysWhatToWrite(t *testing.T) {
	r := pointlist.Registry{List: registry.List[pointlist.Entry]{Entries: []pointlist.Entry{
		{Object: "analog-input:1"},
		{Name: "a"},
		{Name: "b", Object: "analog-thing:1"},
		{Name: "c", Object: "analog-input:4194303"},
		{Name: "d", Object: "analog-value:1", Property: "presentvalu"},
		{Name: "e", Object: "analog-value:1", Type: "number"},
		{Name: "f", Object: "analog-value:1", Writable: "maybe"},
		{Name: "g", Object: "analog-value:1", Writable: "true", Priority: "17"},
		{Name: "h", Object: "analog-value:1", Property: "units", COV: "true"},
		{Name: "i", Object: "analog-value:1", Min: "1"},
		{Name: "j", Object: "analog-value:1", ArrayIndex: "x"},
		{Name: "k", Object: "multi-state-value:1", Writable: "true", Default: "0"},
		{Name: "l", Object: "analog-value:1"},
		{Name: "l", Object: "analog-value:2"},
	}}}
	items, problems := r.Items()
	want := []string{
		"registry[0].name: is missing", "registry[1].object: (a) is missing; write type and instance", `registry[2].object: (b) unknown object type "analog-thing"`,
		"registry[3].object: (c) \"analog-input:4194303\" has an instance that stands for none", `registry[4].property: (d) unknown property "presentvalu"`,
		`registry[5].type: (e) "number" is no type`, `registry[6].writable: (f) "maybe" is neither true nor false; write one of them`, `registry[7].priority: (g) "17" is no priority`,
		"registry[8].cov: (h) is true, but only the present value", "registry[9].default: (i) and min and max are for points that may be written",
		`registry[10].array_index: (j) "x" is no index`, "registry[11].default: (k) 0 is no state", `registry[13].name: (l) "l" stands there twice`,
	}
	if len(items) != 1 || len(problems) != len(want) {
		t.Errorf("%d items, %d problems, want %d: %v", len(items), len(problems), len(want), problems)
	}
	for i := range min(len(problems), len(want)) {
		if p, ok := problems[i].(*driver.Problem); !ok || !strings.HasPrefix(p.Error(), want[i]) { //nolint:errorlint // they are made here
			t.Errorf("problem %d is %v, want %s…", i, problems[i], want[i])
		}
	}
}
