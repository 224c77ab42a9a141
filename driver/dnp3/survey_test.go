package dnp3

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/internal/folder"
	"voltbus/point"
)

// discover asks the device at an address which points it has.
func discover(t *testing.T, address string) []driver.Found {
	t.Helper()
	s := connect(t, config(t, address, "[]"))
	if n := len(s.items); n != 0 {
		t.Fatalf("the configuration lists %d points", n)
	}
	found, err := s.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestThePointsOfADeviceAreFoundAsItsRegistryNamesThem(t *testing.T) {
	d := newDevice(t)
	found := discover(t, d.listen(t, nil, 10))
	type row struct{ name, kind, index, variation, value string }
	var got []row
	for _, f := range found {
		got = append(got, row{string(f.Info.Path), f.Entry["type"], f.Entry["index"], f.Entry["variation"], f.Sample.Value.String()})
	}
	want := []row{
		{"binary_input_0", "binary_input", "0", "2", "true"},
		{"binary_input_3", "binary_input", "3", "2", "false"},
		{"double_bit_input_1", "double_bit_input", "1", "2", "2"},
		{"binary_output_1", "binary_output", "1", "2", "false"},
		{"counter_1", "counter", "1", "1", "4000000000"},
		{"frozen_counter_7", "frozen_counter", "7", "1", "77"},
		{"analog_input_0", "analog_input", "0", "1", "1234"},
		{"analog_input_2", "analog_input", "2", "5", "-20"},
		{"frozen_analog_7", "frozen_analog", "7", "1", "1"}, // as the device shows it: an integer,
		{"analog_output_2", "analog_output", "2", "1", "5"},
		{"octet_string_5", "octet_string", "5", "", "relay \x01\uFFFDseven"}, // not in class 0
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasFoundIsAnEntryOfARegistry(t *testing.T) {
	_, address := foreign(t)
	c := NewConfig()
	c.Address = address
	found := discover(t, address)
	var entries []map[string]string
	for _, f := range found {
		entries = append(entries, f.Entry)
	}
	text, err := yaml.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c.Registry); err != nil {
		t.Fatal(err)
	}
	if problems := append(c.Load(folder.Any("")), c.Validate()...); len(problems) > 0 {
		t.Fatal(problems)
	}
	infos := c.Points()
	if len(infos) == 0 || len(infos) != len(found) {
		t.Fatalf("%d points of %d that were found", len(infos), len(found))
	}
	for i, info := range infos {
		if info.Path != found[i].Info.Path || info.Kind != found[i].Info.Kind {
			t.Errorf("%s is a %v, found as %s, a %v", info.Path, info.Kind, found[i].Info.Path, found[i].Info.Kind)
		}
		if q := found[i].Sample.Quality; q != point.Good && found[i].Sample.Value.Kind() != point.None && q.IsBad() {
			t.Errorf("%s is %v with a value", info.Path, q)
		}
	}
}
