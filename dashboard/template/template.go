// Package template makes dashboards for equipment by what its points are: their Haystack and other tags, their units, names and descriptions.
// It is pure: points are handed in.
package template

import (
	"cmp"
	"slices"
	"strings"

	"voltbus/dashboard"
	"voltbus/point"
)

// Kinds of equipment.
const (
	AirHandler = "air handler"
	Boiler     = "boiler"
	Meter      = "meter"
	Feeder     = "feeder"
	Room       = "room"
	Other      = "equipment"
)

// Device returns a dashboard for the points of a device, and what kind of equipment it was taken for. It has no name yet.
func Device(device string, points []point.Info) (dashboard.Dashboard, string) {
	list := describe(points)
	kind := Equipment(points)
	d := dashboard.Dashboard{Title: point.Path(device).Name()}
	b := builder{points: list, used: map[point.Path]bool{}}
	for _, s := range slots(kind) {
		b.add(&s)
	}
	b.rest(device)
	d.Tiles = b.tiles()
	return d, kind
}

// Equipment returns the kind of equipment that has the points.
func Equipment(points []point.Info) string {
	list := describe(points)
	all := map[string]int{}
	for i := range list {
		for w := range list[i].equip {
			all[w]++
		}
	}
	for _, k := range []struct {
		kind string
		tags []string
	}{
		{AirHandler, []string{"ahu", "doas", "rtu", "mau"}},
		{Boiler, []string{"boiler", "hotwaterplant"}},
		{Feeder, []string{"feeder", "breaker", "switchgear"}},
		{Meter, []string{"meter", "submeter"}},
		{Room, []string{"vav", "fcu", "room", "zone"}},
	} {
		for _, tag := range k.tags {
			if all[tag] > 0 {
				return k.kind
			}
		}
	}
	has := func(s slot) bool { return slices.ContainsFunc(list, func(f facts) bool { return s.fits(&f) > 0 }) }
	t := &slotTable
	switch {
	case has(t.supplyAir) && (has(t.fan) || has(t.damper)):
		return AirHandler
	case has(t.flame) || (has(t.supplyWater) && has(t.returnWater) && has(t.burner)):
		return Boiler
	case has(t.breaker) && (has(t.current) || has(t.voltage)):
		return Feeder
	case has(t.energy) || (has(t.power) && has(t.voltage)):
		return Meter
	case has(t.roomTemp) && (has(t.co2) || has(t.humidity) || has(t.setpoint)):
		return Room
	}
	return Other
}

// facts are what is known of a point.
type facts struct {
	*point.Info
	words map[string]bool // of its name, description and tags, in small letters
	equip map[string]bool // tags of the equipment, and what they say
}

func describe(points []point.Info) []facts {
	out := make([]facts, 0, len(points))
	for i := range points {
		f := facts{Info: &points[i], words: map[string]bool{}, equip: map[string]bool{}}
		for _, text := range []string{f.Path.Name(), f.Description} {
			for _, w := range split(text) {
				f.words[w] = true
			}
		}
		for k, v := range f.Tags {
			k, v = strings.ToLower(k), strings.ToLower(v)
			f.words[k] = true
			for _, w := range split(v) {
				f.words[w] = true
			}
			if marks(v) { // a marker of Haystack
				f.equip[k] = true
			}
			if k == "equip" || k == "equipment" || k == "class" || k == "brick" {
				f.equip[v] = true
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b facts) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

func marks(v string) bool { return v == "" || v == "m:" || v == "true" || v == "✓" || v == "marker" }

// split returns the words of a name or description in small letters: supplyAirTemp and supply_air_temp have three.
func split(s string) []string {
	var b strings.Builder
	small := false
	for _, r := range s {
		if r >= 'A' && r <= 'Z' && small {
			b.WriteByte(' ')
		}
		small = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(r rune) bool {
		return r < 0x80 && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// Units by what they measure, as written in registries.
var (
	temperatureUnits = units("degC degF °C °F Cel K C F celsius")
	percentUnits     = units("% percent %RH")
	pressureUnits    = units("Pa kPa bar mbar hPa psi inH2O")
	powerUnits       = units("W kW MW kVA kvar VA var")
	energyUnits      = units("Wh kWh MWh varh kvarh GJ MJ")
	voltUnits        = units("V kV")
	ampereUnits      = units("A mA kA")
	hertzUnits       = units("Hz")
	flowUnits        = units("m3/h m³/h l/s l/h l/min m3/s gpm cfm")
	gasUnits         = units("ppm")
)

func units(list string) map[string]bool {
	out := map[string]bool{}
	for u := range strings.FieldsSeq(list) {
		out[strings.ToLower(u)] = true
	}
	return out
}

// slot is a place of a template: which points are wanted, and how they are shown.
type slot struct {
	kind  string            // of the tile
	title string            // "" for that of the point
	all   [][]string        // of each of these sets a point has a word
	not   []string          // and none of these words
	units map[string]bool   // and one of these units; nil for any
	is    func(*facts) bool // and this holds; nil for no matter
	most  int               // points
	w, h  int
	first bool   // the next slot of its kind and title is for want of it
	trend string // the range of a trend
	high  float64
}

// fits says how well a point fits: 0 for not at all.
func (s *slot) fits(f *facts) int {
	if s.units != nil && !s.units[strings.ToLower(f.Unit)] {
		return 0
	}
	if s.is != nil && !s.is(f) {
		return 0
	}
	has := func(w string) bool { return f.words[w] }
	if slices.ContainsFunc(s.not, has) {
		return 0
	}
	score := 1
	for _, set := range s.all {
		i := slices.IndexFunc(set, has)
		if i < 0 {
			return 0
		}
		score += 1 + len(set) - i // the first words say most
	}
	return 10*score - min(len(f.words), 9) // a point of few words is the plain one
}

// found returns the points that fit best.
func (s *slot) found(list []facts) []string {
	type hit struct {
		path  point.Path
		score int
	}
	var hits []hit
	for i := range list {
		if score := s.fits(&list[i]); score > 0 {
			hits = append(hits, hit{list[i].Path, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	var out []string
	for _, h := range hits[:min(len(hits), max(s.most, 1))] {
		out = append(out, string(h.path))
	}
	return out
}
