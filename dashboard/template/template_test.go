package template_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"voltbus/dashboard"
	"voltbus/dashboard/template"
	"voltbus/point"
)

func info(path, unit, doc string, kind point.Kind, tags ...string) point.Info {
	p := point.Info{Path: point.Path(path), Unit: unit, Description: doc, Kind: kind, Tags: map[string]string{}}
	for _, t := range tags {
		k, v, _ := strings.Cut(t, "=")
		p.Tags[k] = v
	}
	return p
}

var handler = []point.Info{
	info("b/ahu/supply_temp", "degC", "Air to the rooms", point.Float), info("b/ahu/supply_setpoint", "degC", "Wanted temperature", point.Float),
	info("b/ahu/return_temp", "degC", "Air from the rooms", point.Float), info("b/ahu/fan_speed", "%", "Speed", point.Float),
	info("b/ahu/damper", "%", "Signal", point.Float), info("b/ahu/fan_running", "", "The fan turns", point.Bool),
}

// tile returns the points of the first tile of a kind.
func tile(d *dashboard.Dashboard, kind string) string {
	i := slices.IndexFunc(d.Tiles, func(t dashboard.Tile) bool { return t.Kind == kind })
	if i < 0 {
		return ""
	}
	return strings.Join(d.Tiles[i].Points, " ")
}

func TestEquipmentIsKnownByTagsUnitsAndNames(t *testing.T) {
	for name, c := range map[string]struct {
		points []point.Info
		want   string
	}{
		"names":            {handler, template.AirHandler},
		"Haystack":         {[]point.Info{info("x/1", "°C", "", point.Float, "discharge=", "air=", "temp=", "ahu=")}, template.AirHandler},
		"tag of equipment": {[]point.Info{info("x/1", "", "", point.Float, "equip=boiler")}, template.Boiler},
		"flame":            {[]point.Info{info("x/flame", "", "", point.Bool)}, template.Boiler},
		"meter":            {[]point.Info{info("x/activeEnergy", "kWh", "", point.Float), info("x/p", "kW", "", point.Float)}, template.Meter},
		"feeder":           {[]point.Info{info("x/breakerClosed", "", "", point.Bool), info("x/i1", "A", "", point.Float), info("x/e", "kWh", "", point.Float)}, template.Feeder},
		"room":             {[]point.Info{info("x/temp", "degC", "Room temperature", point.Float), info("x/co2", "ppm", "", point.Float)}, template.Room},
		"unknown":          {[]point.Info{info("x/y", "", "", point.Float)}, template.Other},
		"none":             {nil, template.Other},
	} {
		d, kind := template.Device("x", c.points)
		if kind != c.want {
			t.Errorf("%s is taken for %s", name, kind)
		}
		if d.Name = "d"; d.Validate() != nil || len(d.Tiles) == 0 {
			t.Errorf("%s makes %+v, %v", name, d, d.Validate())
		}
	}
}

func TestAnAirHandlerShowsWhatItBlowsAndWhatIsWanted(t *testing.T) {
	d, _ := template.Device("b/ahu", handler)
	if got := tile(&d, "value") + ", " + tile(&d, "gauge") + ", " + tile(&d, "bar"); got != "b/ahu/supply_temp, b/ahu/fan_speed, b/ahu/damper" {
		t.Errorf("it shows %s", got)
	}
	if got := tile(&d, "state"); got != "b/ahu/fan_running" {
		t.Errorf("its states are %s", got)
	}
	if got := tile(&d, "trend"); len(strings.Fields(got)) != 3 {
		t.Errorf("its trend shows %s", got)
	}
}

// The home page of a large node is made in a moment, and is right.
func TestHomeShowsComfortPowerAndStates(t *testing.T) {
	var points []point.Info
	for i := range 2000 {
		points = append(points,
			info(fmt.Sprintf("b/room%d/temp", i), "degC", "Room temperature", point.Float),
			info(fmt.Sprintf("b/meter%d/power", i), "kW", "Active power", point.Float),
			info(fmt.Sprintf("b/pump%d/running", i), "", "The pump turns", point.Bool))
	}
	d := template.Home(points)
	d.Name = "home"
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, tile := range d.Tiles {
		kinds = append(kinds, tile.Kind)
	}
	if got := strings.Join(kinds, " "); got != "value trend trend state alarms" {
		t.Errorf("it has %s", got)
	}
	if none := template.Home(nil); len(none.Tiles) != 1 || none.Tiles[0].Kind != "alarms" {
		t.Errorf("without points it is %+v", none)
	}
	other := template.Home([]point.Info{info("a/b", "", "", point.Float)})
	if tile(&other, "table") != "a/b" {
		t.Errorf("of other points it is %+v", other)
	}
}
