package survey

import (
	"strings"
	"testing"

	"voltbus/driver/bacnet/pointlist"
)

func pointOf(name, object, unit string) Point {
	entry := map[string]string{"name": name, "object": object, "unit": unit}
	return Point{Item: pointlist.ItemOf(entry), Entry: entry}
}

func TestMarkersAreGuessedFromNameUnitAndTypeOrNotAtAll(t *testing.T) {
	for _, tt := range []struct{ name, object, unit, want string }{
		{"Zone_Temperature", "analog-input:1", "degC", "zone air temp sensor"},
		{"VAV_101_ZoneTemp", "analog-input:2", "", "zone air temp sensor"},
		{"AHU-1 SAT", "analog-input:3", "degF", "discharge air temp sensor"},
		{"Room_Cooling_Setpoint", "analog-value:1", "degC", "zone air temp sp"},
		{"Supply_Fan", "binary-output:1", "", "discharge air fan cmd"},
		{"CHW Valve", "analog-output:1", "%", "chilled water valve cmd"},
		{"Zone CO2", "analog-input:4", "ppm", "zone air co2 sensor"},
		{"Main_Meter_Energy", "analog-input:5", "kWh", "elec energy sensor"},
		{"input_1", "analog-input:6", "degC", "temp sensor"},
		{"input_2", "analog-input:7", "", ""},
		{"Zone_Temperature", "analog-value:2", "degC", ""}, // a value may be anything
		{"Fancy_Hotel", "analog-input:8", "", ""},          // whole words count
		{"", "analog-input:9", "degC", ""},
	} {
		if p := pointOf(tt.name, tt.object, tt.unit); Guess(&p) != tt.want {
			t.Errorf("%s %s is guessed to be %q, want %q", tt.name, tt.object, Guess(&p), tt.want)
		}
	}
}

func TestAGuessIsATagOfTheRegistryThatSaysSo(t *testing.T) {
	text := string(registryOf([]Point{pointOf("Zone_Temp", "analog-input:1", "degC"), pointOf("other", "analog-value:3", "")}))
	if !strings.Contains(text, "tag:haystack_guess\n") || !strings.Contains(text, ",zone air temp sensor\n") {
		t.Errorf("the registry is\n%s", text)
	}
	entries, problems := pointlist.ParseCSV("registry", "device-1.csv", strings.NewReader(text))
	if len(problems) > 0 || len(entries) != 2 || entries[0].Tags["haystack_guess"] != "zone air temp sensor" || len(entries[1].Tags) != 0 {
		t.Errorf("it is read as %+v, %v", entries, problems)
	}
	if plain := string(registryOf([]Point{pointOf("other", "analog-value:3", "")})); strings.Contains(plain, "guess") {
		t.Errorf("a registry without a guess is\n%s", plain)
	}
}
