package template

import (
	"voltbus/dashboard"
	"voltbus/point"
)

// Home returns the dashboard of a building: how it feels, what it draws, what is on, and its alarms. It has no name yet.
func Home(points []point.Info) dashboard.Dashboard {
	b := builder{points: describe(points), used: map[point.Path]bool{}}
	alike := ""
	for _, s := range []slot{
		{kind: "value", all: [][]string{{"outdoor", "outside", "ambient", "oat"}}, units: temperatureUnits, is: measures, w: 3, h: 2},
		{kind: "value", all: [][]string{{"meter", "total", "main"}, {"power", "active"}}, not: []string{"factor", "reactive"}, units: powerUnits, is: measures, w: 3, h: 2, first: true},
		{kind: "value", all: [][]string{{"power", "active"}}, not: []string{"factor", "reactive"}, units: powerUnits, is: measures, w: 3, h: 2},
		{kind: "value", all: [][]string{{"co2", "dioxide"}}, units: gasUnits, is: measures, w: 3, h: 2, high: 1000},
		{kind: "value", all: [][]string{{"humidity", "rh"}}, not: []string{"outdoor", "outside"}, units: percentUnits, is: measures, w: 3, h: 2},
		{
			kind: "trend", title: "Comfort", all: [][]string{{"room", "zone", "space"}}, not: append([]string{"setback", "outdoor"}, wantedNames...),
			units: temperatureUnits, is: measures, most: 8, w: 6, h: 5, trend: "1d",
		},
		{kind: "trend", title: "Power", all: [][]string{{"meter", "total", "main"}}, units: powerUnits, is: measures, most: 8, w: 6, h: 5, trend: "1d", first: true},
		{kind: "trend", title: "Power", units: powerUnits, is: measures, most: 8, w: 6, h: 5, trend: "1d"},
		{kind: "state", title: "Equipment", all: [][]string{{"running", "run", "flame", "turns", "fan", "pump", "enabled"}}, is: isSwitch, most: 12, w: 4, h: 5},
		{kind: "trend", title: "Supply and return", all: [][]string{{"supply", "return", "discharge"}}, not: wantedNames, units: temperatureUnits, is: measures, most: 8, w: 4, h: 5, trend: "1d"},
	} {
		if alike == s.kind+s.title && !s.first { // the better one is there
			alike = ""
			continue
		}
		if found := b.add(&s); found && s.first {
			alike = s.kind + s.title
		}
	}
	b.list = append(b.list, dashboard.Tile{Kind: "alarms", Title: "Alarms", W: 4, H: 5})
	if len(b.list) == 1 && len(b.points) > 0 { // nothing that a building has
		b.rest("")
		b.list = b.list[1:]
	}
	b.place()
	return dashboard.Dashboard{Title: "Home", Tiles: b.tiles()}
}
